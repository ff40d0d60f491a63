SELECT clock_timestamp() + $2 * interval '1 microsecond', array_agg(nextval('qops.message_id_seq')) FROM generate_series(1, $1)
