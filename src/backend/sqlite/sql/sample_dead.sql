SELECT queue_id FROM qops_dead WHERE seq=?1
