-- Takes a key that is free, or whose window has ended.
INSERT INTO qops_dedup(queue_id, key, message_id) VALUES(?1, ?2, ?3)
ON CONFLICT(queue_id, key) DO UPDATE SET message_id=excluded.message_id, expires_at=NULL WHERE expires_at<=?4
