SELECT queue_id, state, lease_until, lease_token, worker, started_at, attempts, deliveries, expires_at, group_key, max_attempts, key
FROM qops_message WHERE id=?1
