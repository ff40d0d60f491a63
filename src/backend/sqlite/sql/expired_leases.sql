SELECT id FROM qops_message WHERE queue_id=?1 AND state=1 AND lease_until<=?2 ORDER BY lease_until, id LIMIT ?3
