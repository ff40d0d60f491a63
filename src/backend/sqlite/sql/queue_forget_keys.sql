DELETE FROM qops_dedup WHERE queue_id=?1
