-- Four roles, none of which logs in: GRANT one to whoever needs it. Whoever owns the schema needs none.
DO $$
DECLARE r text;
BEGIN
  FOREACH r IN ARRAY ARRAY['qops_viewer', 'qops_producer', 'qops_worker', 'qops_owner'] LOOP
    IF NOT EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = r) THEN EXECUTE format('CREATE ROLE %I NOLOGIN', r); END IF;
  END LOOP;
END $$;
GRANT USAGE ON SCHEMA "qops" TO qops_viewer, qops_producer, qops_worker, qops_owner;
-- Looks: queues, peek, show, stats, a dry run.
GRANT SELECT ON ALL TABLES IN SCHEMA "qops" TO qops_viewer, qops_worker, qops_owner;
GRANT SELECT ON ALL SEQUENCES IN SCHEMA "qops" TO qops_viewer, qops_worker, qops_owner;
-- Enqueues, and reads nothing but what that needs.
GRANT SELECT ON qops.meta, qops.queue, qops.dedup, qops.listener TO qops_producer;
GRANT SELECT (id, queue_id, group_key) ON qops.message TO qops_producer;
GRANT INSERT ON qops.queue, qops.message, qops.dedup TO qops_producer, qops_worker;
GRANT UPDATE (message_id, expires_at) ON qops.dedup TO qops_producer;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA "qops" TO qops_producer, qops_worker;
-- Works, requeues, purges and drains.
GRANT UPDATE, DELETE ON qops.message, qops.dedup TO qops_worker;
GRANT INSERT, UPDATE, DELETE ON qops.dead, qops.attempt TO qops_worker;
GRANT INSERT, UPDATE ON qops.listener TO qops_worker;
-- Everything, settings and the end of queues too.
GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "qops" TO qops_owner;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA "qops" TO qops_owner;
