INSERT INTO qops_message(id, queue_id, state, priority, ready_at, enqueued_at, expires_at, attempts, deferrals, deliveries, replays,
  max_attempts, key, headers, last_error, payload)
SELECT id, ?2, 0, priority, ?3, enqueued_at, NULL, CASE WHEN ?4 THEN 0 ELSE attempts END, CASE WHEN ?4 THEN 0 ELSE deferrals END,
  deliveries, replays+1, max_attempts, key, headers, last_error, payload FROM qops_dead WHERE id IN (SELECT value FROM json_each(?1))
