SELECT count(*) FROM (SELECT 1 FROM qops_message WHERE queue_id=?1 AND state=2 LIMIT ?2)
