UPDATE qops_message SET state=0, lease_until=NULL, lease_token=NULL, worker=NULL, started_at=NULL,
  attempts=?2, deferrals=CASE WHEN ?3 THEN deferrals+1 ELSE 0 END, ready_at=?4, last_error=coalesce(?5, last_error) WHERE id=?1
