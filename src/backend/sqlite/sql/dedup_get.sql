SELECT message_id, expires_at FROM qops_dedup WHERE queue_id=?1 AND key=?2
