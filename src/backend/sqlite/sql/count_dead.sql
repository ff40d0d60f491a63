SELECT count(*) FROM (SELECT 1 FROM qops_dead WHERE queue_id=?1 LIMIT ?2)
