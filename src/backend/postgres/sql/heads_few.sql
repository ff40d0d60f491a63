SELECT m.id, m.id, m.ready_at, qops.stands(m, $1), qops.means(m, $1, $2, $3, $4, $5, $6, $7, $8, $9, $12),
  coalesce(octet_length(m.payload), octet_length(m.payload_bin)), m.priority
FROM qops.message m WHERE m.queue_id = $13 AND m.id = ANY ($16) AND m.id > $14 ORDER BY m.id LIMIT $15
