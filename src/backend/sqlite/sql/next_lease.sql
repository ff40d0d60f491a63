SELECT lease_until FROM qops_message WHERE queue_id=?1 AND state=1 ORDER BY lease_until LIMIT 1
