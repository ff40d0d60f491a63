SELECT * FROM qops.stats($1, $2, $3)
