SELECT relid::regclass::text, n_dead_tup, format('VACUUM %s;', relid::regclass) FROM pg_catalog.pg_stat_user_tables
WHERE relid IN ('qops.message'::regclass, 'qops.dead'::regclass) AND n_dead_tup > 100000 ORDER BY 1
