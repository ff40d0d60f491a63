SELECT one, why FROM qops.purge($1, $2, $3, $4, $5, $6, $7, clock_timestamp() + $8 * interval '1 microsecond')
