UPDATE qops_dead SET lease_until=?2, lease_token=?3, worker=?4, started_at=?5, deliveries=deliveries+1 WHERE id=?1
