-- A payload that is not wanted (?2) is not read, however large.
SELECT id, state, priority, ready_at, enqueued_at, expires_at, attempts, deferrals, deliveries, replays, max_attempts, key, group_key, headers,
  last_error, lease_until, worker, started_at, NULL, NULL, CASE WHEN ?2 THEN payload END, queue_id
FROM qops_message WHERE id=?1
