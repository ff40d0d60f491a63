SELECT m.id, m.seq, m.ready_at, 3::smallint, qops.means_letter(m, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12),
  coalesce(octet_length(m.payload), octet_length(m.payload_bin)), m.priority
FROM qops.dead m WHERE m.queue_id = $13 AND m.seq < $14 ORDER BY m.seq DESC LIMIT $15
