SELECT id FROM qops.message WHERE queue_id = $1 AND state = 0
UNION ALL SELECT id FROM qops.message WHERE queue_id = $1 AND state = 1
UNION ALL SELECT id FROM qops.message WHERE queue_id = $1 AND state = 2 LIMIT $2
