SELECT queue_id, reason, lease_until, lease_token, worker, started_at, attempts, deliveries, key, group_key FROM qops_dead WHERE id=?1
