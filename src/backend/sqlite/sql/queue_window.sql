SELECT dedup_window_us FROM qops_queue WHERE id=?1
