UPDATE qops.queue SET paused_at = CASE WHEN $2 THEN coalesce(paused_at, clock_timestamp() + $8 * interval '1 microsecond') END,
  max_attempts = $3, lease_us = $4, backoff_us = $5, dedup_window_us = $6, ttl_us = $7 WHERE id = $1
