-- Names, settings and counts of queues, of each state at most so many. Compiling it would take longer than running it.
CREATE FUNCTION qops.stats(names text[], most bigint, at timestamptz) RETURNS TABLE(name text, id int, paused boolean,
    max_attempts bigint, lease_us bigint, backoff_us bigint[], dedup_window_us bigint, ttl_us bigint, ready bigint, delayed bigint,
    oldest timestamptz, blocked bigint, running bigint, dead bigint, lapsed bigint) LANGUAGE sql STABLE SET jit = off AS $$
WITH RECURSIVE q AS (SELECT u.* FROM qops.queue u WHERE names IS NULL OR u.name = ANY (names)),
p(queue_id, priority) AS (
  SELECT q.id, (SELECT m.priority FROM qops.message m WHERE m.queue_id = q.id AND m.state = 0 ORDER BY m.priority DESC LIMIT 1)
    FROM q 
  UNION ALL SELECT p.queue_id, (SELECT m.priority FROM qops.message m WHERE m.queue_id = p.queue_id AND m.state = 0
    AND m.priority < p.priority ORDER BY m.priority DESC LIMIT 1) FROM p WHERE p.priority IS NOT NULL),
w AS (
  SELECT p.queue_id,
    sum((SELECT count(*) FROM (SELECT 1 FROM qops.message m WHERE m.queue_id = p.queue_id AND m.state = 0
      AND m.priority = p.priority AND m.ready_at <= at LIMIT most) t))::bigint AS ready,
    sum((SELECT count(*) FROM (SELECT 1 FROM qops.message m WHERE m.queue_id = p.queue_id AND m.state = 0
      AND m.priority = p.priority AND m.ready_at > at LIMIT most) t))::bigint AS delayed,
    min((SELECT m.ready_at FROM qops.message m WHERE m.queue_id = p.queue_id AND m.state = 0 AND m.priority = p.priority
      ORDER BY m.ready_at LIMIT 1)) AS oldest
  FROM p WHERE p.priority IS NOT NULL GROUP BY p.queue_id)
SELECT q.name, q.id, q.paused_at IS NOT NULL, q.max_attempts, q.lease_us, q.backoff_us, q.dedup_window_us, q.ttl_us,
  coalesce(w.ready, 0), coalesce(w.delayed, 0), w.oldest,
  (SELECT count(*) FROM (SELECT 1 FROM qops.message m WHERE m.queue_id = q.id AND m.state = 2 LIMIT most) t),
  (SELECT count(*) FROM (SELECT 1 FROM qops.message m WHERE m.queue_id = q.id AND m.state = 1 LIMIT most) t),
  (SELECT count(*) FROM (SELECT 1 FROM qops.dead d WHERE d.queue_id = q.id LIMIT most) t),
  (SELECT count(*) FROM (SELECT 1 FROM qops.message m WHERE m.queue_id = q.id AND m.state = 1 AND m.lease_until <= at LIMIT most) t)
FROM q LEFT JOIN w ON w.queue_id = q.id ORDER BY q.name
$$;
-- How many rows of a queue the planner expects: ready, delayed, blocked, running or dead ones.
CREATE FUNCTION qops.estimate(of_queue int, of_state text) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE plan json;
BEGIN
  EXECUTE format('EXPLAIN (FORMAT JSON) SELECT 1 FROM %s WHERE queue_id = %s', CASE of_state
      WHEN 'dead' THEN 'qops.dead' ELSE 'qops.message' END, of_queue) || CASE of_state
      WHEN 'ready' THEN ' AND state = 0 AND ready_at <= clock_timestamp()' WHEN 'delayed' THEN ' AND state = 0 AND ready_at > clock_timestamp()'
      WHEN 'blocked' THEN ' AND state = 2' WHEN 'running' THEN ' AND state = 1' ELSE '' END INTO plan;
  RETURN (plan -> 0 -> 'Plan' ->> 'Plan Rows')::bigint;
END $$;
