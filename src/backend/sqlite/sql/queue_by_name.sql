SELECT id, paused_at, max_attempts, lease_us, backoff_us, dedup_window_us, ttl_us FROM qops_queue WHERE name=?1
