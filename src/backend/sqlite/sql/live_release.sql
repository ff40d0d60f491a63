UPDATE qops_message SET state=0, lease_until=NULL, lease_token=NULL, worker=NULL, started_at=NULL, attempts=?2 WHERE id=?1
