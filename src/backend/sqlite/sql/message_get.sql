SELECT id, state, priority, ready_at, enqueued_at, expires_at, attempts, deferrals, deliveries, replays, max_attempts, key, group_key, headers,
  last_error, lease_until, worker, started_at, NULL, NULL, payload, queue_id
FROM qops_message WHERE id=?1
