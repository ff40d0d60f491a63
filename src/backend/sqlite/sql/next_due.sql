SELECT ready_at FROM qops_message WHERE queue_id=?1 AND state=0 AND priority=?2 AND ready_at>?3 ORDER BY ready_at LIMIT 1
