UPDATE qops_message SET ready_at=?2 WHERE id IN (SELECT value FROM json_each(?1))
