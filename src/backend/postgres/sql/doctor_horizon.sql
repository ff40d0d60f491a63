SELECT 'process'::text, pid::text, age(backend_xmin)::bigint,
  format('SELECT pg_terminate_backend(%s);', pid) FROM pg_catalog.pg_stat_activity
  WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid()
UNION ALL SELECT 'replication slot', slot_name::text, greatest(age(xmin), age(catalog_xmin))::bigint, NULL
  FROM pg_catalog.pg_replication_slots WHERE xmin IS NOT NULL OR catalog_xmin IS NOT NULL
UNION ALL SELECT 'prepared transaction', gid, age(transaction)::bigint, format('ROLLBACK PREPARED %L;', gid) FROM pg_catalog.pg_prepared_xacts
UNION ALL SELECT 'standby', application_name, age(backend_xmin)::bigint, NULL FROM pg_catalog.pg_stat_replication WHERE backend_xmin IS NOT NULL
