SELECT count(*) FROM (SELECT 1 FROM qops_message WHERE queue_id=?1 AND state=0 AND priority=?2 AND ready_at>?3 AND ready_at<=?4 LIMIT ?5)
