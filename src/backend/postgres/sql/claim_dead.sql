SELECT * FROM qops.claim_dead($1, $2, $3, $4, $5, clock_timestamp() + $6 * interval '1 microsecond')
