SELECT seq, id FROM qops_dead WHERE queue_id=?1 AND seq<?2 ORDER BY seq DESC LIMIT ?3
