INSERT INTO qops_dead(id, queue_id, died_at, reason, priority, ready_at, enqueued_at, expires_at, attempts, deferrals, deliveries, replays,
  max_attempts, key, group_key, headers, last_error, payload)
SELECT id, queue_id, ?2, ?3, priority, ready_at, enqueued_at, expires_at, attempts, deferrals, deliveries, replays,
  max_attempts, key, group_key, headers, coalesce(?4, last_error), payload FROM qops_message WHERE id=?1
