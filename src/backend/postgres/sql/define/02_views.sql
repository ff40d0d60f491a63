-- The queue as a person reads it, at this moment.
CREATE VIEW qops.messages AS
  SELECT m.id, q.name AS queue,
    CASE m.state WHEN 1 THEN 'running' WHEN 2 THEN 'blocked' ELSE
      CASE WHEN m.ready_at > clock_timestamp() THEN 'delayed' ELSE 'ready' END END AS state,
    m.priority, m.attempts, m.key, m.group_key, m.payload, m.payload_bin, m.enqueued_at, m.ready_at, m.lease_until, m.worker,
    NULL::timestamptz AS died_at, NULL::text AS reason, m.last_error, m.replays, m.headers
  FROM qops.message m JOIN qops.queue q ON q.id = m.queue_id
  UNION ALL
  SELECT d.id, q.name, 'dead', d.priority, d.attempts, d.key, d.group_key, d.payload, d.payload_bin, d.enqueued_at, d.ready_at,
    d.lease_until, d.worker, d.died_at, d.reason, d.last_error, d.replays, d.headers
  FROM qops.dead d JOIN qops.queue q ON q.id = d.queue_id;
