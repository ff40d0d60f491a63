INSERT INTO qops_dedup(queue_id, key, message_id) VALUES(?1, ?2, ?3)
