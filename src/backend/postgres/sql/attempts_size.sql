SELECT message_id, coalesce(sum(octet_length(stderr)), 0)::bigint FROM qops.attempt WHERE message_id = ANY ($1) GROUP BY message_id
