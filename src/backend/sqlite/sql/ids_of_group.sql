SELECT id FROM qops_message WHERE queue_id=?1 AND group_key=?2 ORDER BY id LIMIT ?3
