UPDATE qops_dead SET lease_until=?2 WHERE id=?1
