SELECT paused_at FROM qops_queue WHERE id=?1
