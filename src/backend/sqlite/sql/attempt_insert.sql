INSERT OR REPLACE INTO qops_attempt(message_id, delivery, attempt, started_at, took_us, worker, outcome, exit, signal, error, stderr)
VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
