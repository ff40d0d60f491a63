SELECT m.id, m.queue_id, m.state, m.priority, m.ready_at, m.enqueued_at, m.expires_at, m.attempts, m.deferrals, m.deliveries, m.replays,
  m.max_attempts, m.key, m.group_key, m.headers::text, m.last_error, m.lease_until, m.worker, m.started_at, NULL::timestamptz,
  NULL::text, m.payload, m.payload_bin, q.name
FROM qops.message m JOIN qops.queue q ON q.id = m.queue_id WHERE m.id = ANY ($1)
UNION ALL
SELECT m.id, m.queue_id, 3::smallint, m.priority, m.ready_at, m.enqueued_at, m.expires_at, m.attempts, m.deferrals, m.deliveries,
  m.replays, m.max_attempts, m.key, m.group_key, m.headers::text, m.last_error, m.lease_until, m.worker, m.started_at, m.died_at,
  m.reason, m.payload, m.payload_bin, q.name
FROM qops.dead m JOIN qops.queue q ON q.id = m.queue_id WHERE m.id = ANY ($1)
