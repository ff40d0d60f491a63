SELECT seq FROM qops_dead WHERE id=?1
