-- The priorities in use, by leaps over the index.
WITH RECURSIVE p(priority) AS (
  (SELECT priority FROM qops.message WHERE queue_id = $1 AND state = 0 ORDER BY priority DESC LIMIT 1)
  UNION ALL SELECT (SELECT m.priority FROM qops.message m WHERE m.queue_id = $1 AND m.state = 0 AND m.priority < p.priority
    ORDER BY m.priority DESC LIMIT 1) FROM p WHERE p.priority IS NOT NULL)
SELECT priority FROM p WHERE priority IS NOT NULL
