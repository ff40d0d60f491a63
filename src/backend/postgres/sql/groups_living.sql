SELECT g.queue_id, g.group_key FROM unnest($1, $2) AS g(queue_id, group_key)
WHERE EXISTS (SELECT 1 FROM qops.message m WHERE m.queue_id = g.queue_id AND m.group_key = g.group_key)
