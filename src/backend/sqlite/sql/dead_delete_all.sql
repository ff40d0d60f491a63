DELETE FROM qops_dead WHERE id IN (SELECT value FROM json_each(?1))
