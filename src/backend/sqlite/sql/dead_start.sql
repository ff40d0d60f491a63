UPDATE qops_dead SET started_at=coalesce(started_at, ?2) WHERE id=?1
