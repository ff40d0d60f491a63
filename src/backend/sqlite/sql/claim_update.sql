UPDATE qops_message SET state=1, lease_until=?2, lease_token=?3, worker=?4, started_at=?5, attempts=attempts+?6, deliveries=deliveries+1 WHERE id=?1
