SELECT c.oid::regclass::text, format('ALTER TABLE %s DISABLE ROW LEVEL SECURITY;', c.oid::regclass) FROM pg_catalog.pg_class c
WHERE c.oid IN ('qops.message'::regclass, 'qops.dead'::regclass, 'qops.queue'::regclass, 'qops.dedup'::regclass, 'qops.attempt'::regclass)
  AND row_security_active(c.oid) ORDER BY 1
