SELECT clock_timestamp(), pg_is_in_recovery()
