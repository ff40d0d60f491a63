-- Changes of many messages that were looked up before: what each of them is now is tested again. Those whose change nothing else
-- hangs on go together, in one statement. Answers each message with why it is passed over, or NULL; one that is not meant any more
-- is not answered. `meant`: the states, 4 being delayed at the instant `looked`. A dry run changes and locks nothing.
CREATE FUNCTION qops.lock_groups(ids bigint[]) RETURNS void LANGUAGE sql AS $$
  SELECT count(pg_advisory_xact_lock(l)) FROM (
    SELECT DISTINCT qops.group_lock(queue_id, group_key) AS l FROM (
      SELECT queue_id, group_key FROM qops.message WHERE id = ANY (ids) AND group_key IS NOT NULL
      UNION ALL SELECT queue_id, group_key FROM qops.dead WHERE id = ANY (ids) AND group_key IS NOT NULL) m
    ORDER BY 1) g
$$;
CREATE FUNCTION qops.purge(of_queue int, ids bigint[], meant smallint[], running boolean, free boolean, dry boolean,
    looked timestamptz, at timestamptz) RETURNS TABLE(one bigint, why text) LANGUAGE plpgsql AS $$
DECLARE
  went record;
  m qops.message;
  d qops.dead;
  rest bigint[] := ids;
BEGIN
  IF NOT dry THEN
    PERFORM qops.lock_groups(ids);
    WITH live AS (
      DELETE FROM qops.message t WHERE t.id = ANY (ids) AND t.queue_id = of_queue AND t.state = 0 AND t.group_key IS NULL
        AND CASE WHEN t.ready_at > looked THEN 4::smallint ELSE 0::smallint END = ANY (meant) RETURNING t.id, t.key, t.deliveries),
    letters AS (
      DELETE FROM qops.dead t WHERE t.id = ANY (ids) AND t.queue_id = of_queue AND t.lease_until IS NULL
        AND 3 = ANY (meant) RETURNING t.id, t.key, t.deliveries),
    both_of AS (SELECT * FROM live UNION ALL SELECT * FROM letters)
    SELECT array_agg(id) AS ids, array_agg(key ORDER BY key) FILTER (WHERE key IS NOT NULL) AS keys,
      array_agg(id) FILTER (WHERE deliveries > 0) AS ran INTO went FROM both_of;
    IF went.ran IS NOT NULL THEN DELETE FROM qops.attempt WHERE message_id = ANY (went.ran); END IF;
    IF went.keys IS NOT NULL THEN PERFORM qops.let_keys_go(of_queue, went.keys, free, at); END IF;
    IF went.ids IS NOT NULL THEN
      RETURN QUERY SELECT u, NULL::text FROM unnest(went.ids) u;
      rest := ARRAY(SELECT u FROM unnest(ids) u EXCEPT SELECT u FROM unnest(went.ids) u);
    END IF;
  END IF;
  FOREACH one IN ARRAY rest LOOP
    why := NULL;
    IF dry THEN SELECT * INTO m FROM qops.message WHERE id = one AND queue_id = of_queue;
    ELSE SELECT * INTO m FROM qops.message WHERE id = one AND queue_id = of_queue FOR UPDATE; END IF;
    IF FOUND THEN
      CONTINUE WHEN NOT CASE WHEN m.state = 0 AND m.ready_at > looked THEN 4::smallint ELSE m.state END = ANY (meant);
      IF m.state = 1 AND NOT running THEN
        why := 'it is running';
      ELSIF NOT dry THEN
        DELETE FROM qops.message WHERE id = one;
        DELETE FROM qops.attempt WHERE message_id = one;
        IF m.key IS NOT NULL THEN PERFORM qops.let_keys_go(of_queue, ARRAY[m.key], free, at); END IF;
        IF m.group_key IS NOT NULL THEN PERFORM qops.promote(of_queue, m.group_key); END IF;
      END IF;
      RETURN NEXT;
      CONTINUE;
    END IF;
    IF dry THEN SELECT * INTO d FROM qops.dead WHERE id = one AND queue_id = of_queue;
    ELSE SELECT * INTO d FROM qops.dead WHERE id = one AND queue_id = of_queue FOR UPDATE; END IF;
    CONTINUE WHEN NOT FOUND OR NOT 3 = ANY (meant);
    IF d.lease_until > at THEN
      why := 'a command holds it';
    ELSIF NOT dry THEN
      DELETE FROM qops.dead WHERE id = one;
      DELETE FROM qops.attempt WHERE message_id = one;
      IF d.key IS NOT NULL THEN PERFORM qops.let_keys_go(of_queue, ARRAY[d.key], free, at); END IF;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;
-- `into_queue`: another queue for letters, that is there; 0 where it would come into being.
CREATE FUNCTION qops.requeue(of_queue int, ids bigint[], meant smallint[], into_queue int, into_name text, later timestamptz,
    fresh boolean, dry boolean, looked timestamptz, at timestamptz) RETURNS TABLE(one bigint, why text) LANGUAGE plpgsql AS $$
DECLARE
  together bigint[];
  m qops.message;
  d qops.dead;
  target CONSTANT int := coalesce(into_queue, of_queue);
  holder bigint;
  rest bigint[] := ids;
  stands smallint;
BEGIN
  IF NOT dry THEN
    PERFORM qops.lock_groups(ids);
    IF target <> of_queue THEN
      PERFORM pg_advisory_xact_lock(l) FROM (SELECT DISTINCT qops.group_lock(target, group_key) AS l FROM qops.dead
        WHERE id = ANY (ids) AND group_key IS NOT NULL ORDER BY 1) g;
    END IF;
    WITH live AS (
      UPDATE qops.message t SET ready_at = later WHERE t.id = ANY (ids) AND t.queue_id = of_queue AND t.state = 0
        AND into_queue IS NULL AND CASE WHEN t.ready_at > looked THEN 4::smallint ELSE 0::smallint END = ANY (meant)
      RETURNING t.id),
    letters AS (
      DELETE FROM qops.dead t WHERE t.id = ANY (ids) AND t.queue_id = of_queue AND t.lease_until IS NULL AND t.group_key IS NULL
        AND (target = of_queue OR t.key IS NULL) AND 3 = ANY (meant) RETURNING *),
    back AS (
      INSERT INTO qops.message(id, queue_id, state, priority, ready_at, enqueued_at, attempts, deferrals, deliveries, replays,
        max_attempts, key, headers, last_error, payload, payload_bin)
      SELECT id, target, 0, priority, later, enqueued_at, CASE WHEN fresh THEN 0 ELSE attempts END,
        CASE WHEN fresh THEN 0 ELSE deferrals END, deliveries, replays + 1, max_attempts, key, headers, last_error, payload, payload_bin
      FROM letters RETURNING id)
    SELECT array_agg(id) INTO together FROM (SELECT id FROM live UNION ALL SELECT id FROM back) t;
    IF together IS NOT NULL THEN
      RETURN QUERY SELECT u, NULL::text FROM unnest(together) u;
      rest := ARRAY(SELECT u FROM unnest(ids) u EXCEPT SELECT u FROM unnest(together) u);
    END IF;
    PERFORM qops.ring(name) FROM qops.queue WHERE id = target;
  END IF;
  FOREACH one IN ARRAY rest LOOP
    why := NULL;
    IF dry THEN SELECT * INTO m FROM qops.message WHERE id = one AND queue_id = of_queue;
    ELSE SELECT * INTO m FROM qops.message WHERE id = one AND queue_id = of_queue FOR UPDATE; END IF;
    IF FOUND THEN
      CONTINUE WHEN NOT CASE WHEN m.state = 0 AND m.ready_at > looked THEN 4::smallint ELSE m.state END = ANY (meant);
      IF into_queue IS NOT NULL THEN
        why := 'only dead letters go to another queue';
      ELSIF m.state = 2 THEN
        why := 'it is blocked: another member of its group goes first';
      ELSIF m.state = 1 AND m.lease_until > at THEN
        why := 'it is running';
      ELSIF NOT dry THEN
        -- Whether its attempts are spent is judged by the worker that claims it, not here.
        IF m.state = 1 THEN PERFORM qops.take_back(m, at); END IF;
        UPDATE qops.message SET ready_at = later WHERE id = one;
      END IF;
      RETURN NEXT;
      CONTINUE;
    END IF;
    IF dry THEN SELECT * INTO d FROM qops.dead WHERE id = one AND queue_id = of_queue;
    ELSE SELECT * INTO d FROM qops.dead WHERE id = one AND queue_id = of_queue FOR UPDATE; END IF;
    CONTINUE WHEN NOT FOUND OR NOT 3 = ANY (meant);
    holder := NULL;
    IF target <> of_queue AND d.key IS NOT NULL THEN
      IF NOT dry THEN
        INSERT INTO qops.dedup AS k(queue_id, key, message_id) VALUES (target, d.key, one)
          ON CONFLICT (queue_id, key) DO UPDATE SET message_id = excluded.message_id, expires_at = NULL WHERE k.expires_at <= at;
        IF NOT FOUND THEN SELECT message_id INTO holder FROM qops.dedup k WHERE k.queue_id = target AND k.key = d.key; END IF;
      ELSE
        SELECT message_id INTO holder FROM qops.dedup k WHERE k.queue_id = target AND k.key = d.key
          AND (k.expires_at IS NULL OR k.expires_at > at);
      END IF;
    END IF;
    IF d.lease_until > at THEN
      why := 'a command holds it';
      IF NOT dry AND target <> of_queue AND d.key IS NOT NULL AND holder IS NULL THEN
        DELETE FROM qops.dedup WHERE queue_id = target AND key = d.key AND message_id = one;
      END IF;
    ELSIF holder IS NOT NULL THEN
      why := format('its key ''%s'' is taken by message %s of %s', d.key, holder, into_name);
    ELSIF NOT dry THEN
      PERFORM qops.close_run(d.id, d.deliveries, d.attempts, d.started_at, d.worker, NULL, 'lost', at);
      stands := CASE WHEN d.group_key IS NOT NULL AND EXISTS (
        SELECT 1 FROM qops.message WHERE queue_id = target AND group_key = d.group_key) THEN 2 ELSE 0 END;
      INSERT INTO qops.message(id, queue_id, state, priority, ready_at, enqueued_at, attempts, deferrals, deliveries, replays,
        max_attempts, key, group_key, headers, last_error, payload, payload_bin)
      VALUES (d.id, target, stands, d.priority, later, d.enqueued_at, CASE WHEN fresh THEN 0 ELSE d.attempts END,
        CASE WHEN fresh THEN 0 ELSE d.deferrals END, d.deliveries, d.replays + 1, d.max_attempts, d.key, d.group_key, d.headers,
        d.last_error, d.payload, d.payload_bin);
      DELETE FROM qops.dead WHERE id = one;
      IF target <> of_queue AND d.key IS NOT NULL THEN
        DELETE FROM qops.dedup WHERE queue_id = of_queue AND key = d.key;
      END IF;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;
-- Messages whose time to live has passed become dead letters, and key windows end. Answers how many of the one or the other.
CREATE FUNCTION qops.sweep(most int, at timestamptz) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  m record;
  buried int := 0;
  ended int;
BEGIN
  FOR m IN SELECT id, queue_id, group_key FROM qops.message WHERE expires_at IS NOT NULL AND state <> 1 AND expires_at <= at
      ORDER BY expires_at LIMIT most FOR UPDATE SKIP LOCKED LOOP
    CONTINUE WHEN m.group_key IS NOT NULL AND NOT pg_try_advisory_xact_lock(qops.group_lock(m.queue_id, m.group_key));
    PERFORM qops.bury(m.id, 'expired', NULL, at);
    buried := buried + 1;
  END LOOP;
  DELETE FROM qops.dedup WHERE (queue_id, key) IN (
    SELECT queue_id, key FROM qops.dedup WHERE expires_at <= at ORDER BY queue_id, key LIMIT most FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS ended = ROW_COUNT;
  RETURN greatest(buried, ended);
END $$;
