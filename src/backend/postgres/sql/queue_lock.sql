SELECT name, id, paused_at IS NOT NULL, max_attempts, lease_us, backoff_us, dedup_window_us, ttl_us FROM qops.queue
WHERE name = $1 FOR UPDATE
