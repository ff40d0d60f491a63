SELECT outcome, started_at, worker FROM qops_attempt WHERE message_id=?1 ORDER BY delivery DESC LIMIT 1
