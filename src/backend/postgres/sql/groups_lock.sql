SELECT count(pg_advisory_xact_lock(l)) FROM (
  SELECT DISTINCT qops.group_lock(g.queue_id, g.group_key) AS l FROM unnest($1, $2) AS g(queue_id, group_key) ORDER BY 1) t
