-- A payload that is not wanted (?2) is not read, however large.
SELECT id, 3, priority, ready_at, enqueued_at, expires_at, attempts, deferrals, deliveries, replays, max_attempts, key, group_key, headers,
  last_error, lease_until, worker, started_at, died_at, reason, CASE WHEN ?2 THEN payload END, queue_id
FROM qops_dead WHERE id=?1
