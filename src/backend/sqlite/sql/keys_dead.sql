SELECT id, seq, queue_id, 3, enqueued_at, died_at, key, group_key, lease_until IS NOT NULL OR started_at IS NOT NULL, deliveries, reason='expired'
FROM qops_dead WHERE queue_id=?1 AND seq>?2 ORDER BY seq LIMIT ?3
