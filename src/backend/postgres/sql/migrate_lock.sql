SELECT pg_advisory_xact_lock(hashtextextended('qops migrate ' || $1, 0))
