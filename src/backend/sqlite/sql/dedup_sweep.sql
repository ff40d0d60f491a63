DELETE FROM qops_dedup WHERE (queue_id, key) IN (
  SELECT queue_id, key FROM qops_dedup WHERE expires_at IS NOT NULL AND expires_at<=?1 LIMIT ?2)
