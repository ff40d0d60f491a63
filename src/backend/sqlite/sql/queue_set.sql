UPDATE qops_queue SET paused_at=?2, max_attempts=?3, lease_us=?4, backoff_us=?5, dedup_window_us=?6, ttl_us=?7 WHERE id=?1
