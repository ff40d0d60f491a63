DELETE FROM qops_dead WHERE id=?1
