DELETE FROM qops_message WHERE id IN (SELECT value FROM json_each(?1))
