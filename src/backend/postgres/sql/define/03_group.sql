-- Members of a group come in and go out one transaction after the other. Held to the end of the transaction.
CREATE FUNCTION qops.group_lock(queue_id int, group_key text) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT hashtextextended(queue_id || '/' || group_key, 'qops.message'::regclass::oid::bigint)
$$;
-- The next member goes on, if the group has no head. The group's lock is held.
CREATE FUNCTION qops.promote(queue int, of_group text) RETURNS void LANGUAGE sql AS $$
  UPDATE qops.message SET state = 0 WHERE id = (
      SELECT id FROM qops.message WHERE queue_id = queue AND group_key = of_group AND state = 2 ORDER BY id LIMIT 1)
    AND NOT EXISTS (SELECT 1 FROM qops.message WHERE queue_id = queue AND group_key = of_group AND state < 2)
$$;
-- Wakes whoever waits for this queue, when the transaction ends.
CREATE FUNCTION qops.ring(of_queue text) RETURNS void LANGUAGE sql AS $$
  SELECT pg_notify('qops_' || 'qops.message'::regclass::oid, of_queue)
    FROM qops.listener WHERE queue = of_queue AND until > clock_timestamp()
$$;
