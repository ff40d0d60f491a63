SELECT name FROM qops_queue WHERE id=?1
