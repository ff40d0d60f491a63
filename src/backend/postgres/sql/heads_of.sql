SELECT m.id, m.id, m.ready_at, qops.stands(m, $1), qops.means(m, $1, $2, $3, $4, $5, $6, $7, $8, $9, $12),
  coalesce(octet_length(m.payload), octet_length(m.payload_bin)), m.priority
FROM qops.message m WHERE m.id = ANY ($13)
UNION ALL
SELECT m.id, m.seq, m.ready_at, 3::smallint, qops.means_letter(m, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12),
  coalesce(octet_length(m.payload), octet_length(m.payload_bin)), m.priority
FROM qops.dead m WHERE m.id = ANY ($13)
