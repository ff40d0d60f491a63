SELECT qops.sweep($1, clock_timestamp() + $2 * interval '1 microsecond')
