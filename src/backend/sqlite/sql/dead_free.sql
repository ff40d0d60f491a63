UPDATE qops_dead SET lease_until=NULL, lease_token=NULL, worker=NULL, started_at=NULL, last_error=coalesce(?2, last_error) WHERE id=?1
