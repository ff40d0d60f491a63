SELECT message_id FROM qops.dedup WHERE queue_id = $1 AND key = $2
