SELECT id FROM qops.message WHERE id = ANY ($1) AND queue_id = $2
UNION ALL SELECT id FROM qops.dead WHERE id = ANY ($1) AND queue_id = $2
