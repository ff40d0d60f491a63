WITH k AS (DELETE FROM qops.dedup WHERE queue_id = $1) DELETE FROM qops.queue WHERE id = $1
