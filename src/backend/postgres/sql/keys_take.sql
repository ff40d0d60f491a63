-- In one order, so that two batches never wait for each other.
INSERT INTO qops.dedup AS d(queue_id, key, message_id)
SELECT k.queue_id, k.key, k.id FROM unnest($1, $2, $3) AS k(queue_id, key, id) ORDER BY k.queue_id, k.key
ON CONFLICT (queue_id, key) DO UPDATE SET message_id = excluded.message_id, expires_at = NULL WHERE d.expires_at <= $4
RETURNING message_id
