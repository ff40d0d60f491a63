SELECT delivery, attempt, started_at, took_us, worker, outcome, exit, signal, error, stderr FROM qops_attempt
WHERE message_id=?1 ORDER BY delivery
