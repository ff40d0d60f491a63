SELECT message_id, delivery, attempt, started_at, took_us, worker, outcome, exit, signal, error, stderr FROM qops.attempt
WHERE message_id = ANY ($1) ORDER BY message_id, delivery
