INSERT INTO qops.listener AS l(queue, until) SELECT q, clock_timestamp() + $2 * interval '1 second' FROM unnest($1) AS q ORDER BY q
ON CONFLICT (queue) DO UPDATE SET until = greatest(l.until, excluded.until)
