SELECT id, 0, priority, ready_at, enqueued_at, expires_at, attempts, deferrals, deliveries, replays, max_attempts, key, group_key, headers,
  last_error, lease_until, worker, started_at, NULL, NULL, payload
FROM qops_message WHERE queue_id=?1 AND state=0 AND priority=?2 AND ready_at<=?3 ORDER BY ready_at, id LIMIT ?4
