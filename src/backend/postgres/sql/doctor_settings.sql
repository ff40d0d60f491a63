SELECT s.name, s.setting, format('ALTER SYSTEM SET %I = on; SELECT pg_reload_conf();', s.name) FROM pg_catalog.pg_settings s
WHERE s.name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND s.setting = 'off' ORDER BY 1
