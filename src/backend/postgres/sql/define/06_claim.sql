-- One row of a turn's answer. kind 0: the verdict at `pos` (code and note as in settled); 1: a delivery (number: its token); 2: a message that became a
-- dead letter (note: why); 3: the claim as a whole (code 1: paused, 2: no such queue; number: microseconds until something may be
-- ready; pos: microseconds that the look for it took); 4: the claim failed (note: its SQLSTATE and what it said).
CREATE TYPE qops.turn AS (kind smallint, pos int, code smallint, note text, number bigint,
  id bigint, queue_id int, state smallint, priority smallint, ready_at timestamptz, enqueued_at timestamptz, expires_at timestamptz,
  attempts int, deferrals int, deliveries bigint, replays int, max_attempts bigint, key text, group_key text, headers text,
  last_error text, lease_until timestamptz, worker text, started_at timestamptz, died_at timestamptz, reason text,
  payload text, payload_bin bytea, doubt_at timestamptz, doubt_worker text);
-- A run of a message that was started and whose end nobody saw, if that was its last.
CREATE FUNCTION qops.doubt(of_id bigint, OUT doubt_at timestamptz, OUT doubt_worker text) LANGUAGE sql STABLE AS $$
  SELECT a.started_at, coalesce(a.worker, '') FROM (
    SELECT outcome, started_at, worker FROM qops.attempt WHERE message_id = of_id ORDER BY delivery DESC LIMIT 1) a
  WHERE a.outcome = 'lost'
$$;
-- What dead workers held: back in its place, or dead if that was its last attempt. Answers what died.
CREATE FUNCTION qops.reclaim(of_queue int, spent_at bigint, at_most int, at timestamptz) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
DECLARE m qops.message;
BEGIN
  FOR m IN SELECT * FROM qops.message WHERE queue_id = of_queue AND state = 1 AND lease_until <= at
      ORDER BY lease_until, id LIMIT at_most FOR UPDATE SKIP LOCKED LOOP
    IF m.started_at IS NULL OR m.attempts < coalesce(m.max_attempts, spent_at) THEN
      PERFORM qops.take_back(m, at);
    ELSIF m.group_key IS NULL OR pg_try_advisory_xact_lock(qops.group_lock(m.queue_id, m.group_key)) THEN
      PERFORM qops.close_run(m.id, m.deliveries, m.attempts, m.started_at, m.worker, NULL, 'lost', at);
      PERFORM qops.bury(m.id, 'worker_lost', NULL, at);
      RETURN NEXT m.id;
    END IF;
  END LOOP;
END $$;
-- Of the first `most` ready messages of a priority, within `room` bytes (`always_one`: but one at the least), those that may run.
-- `unfit`: some of them have to be buried; `over`: the bytes ended first.
CREATE FUNCTION qops.pick(of_queue int, level smallint, most int, room bigint, always_one boolean, spent_at bigint,
    from_at timestamptz, from_id bigint, at timestamptz, OUT ids bigint[], OUT bytes bigint, OUT unfit boolean, OUT over boolean)
    LANGUAGE sql AS $$
  SELECT array_agg(c.id) FILTER (WHERE c.fit AND c.fits), coalesce(sum(c.size) FILTER (WHERE c.fit AND c.fits), 0)::bigint,
    coalesce(bool_or(NOT c.fit AND c.fits), false), coalesce(bool_or(NOT c.fits), false)
  FROM (
    SELECT b.id, b.size, b.fit,
      sum(b.size) OVER w <= room OR (always_one AND row_number() OVER w = 1) AS fits
    FROM (
      SELECT id, ready_at, coalesce(octet_length(payload), octet_length(payload_bin)) AS size,
        (expires_at IS NULL OR expires_at > at) AND attempts < coalesce(max_attempts, spent_at) AS fit
      FROM qops.message
      WHERE queue_id = of_queue AND state = 0 AND priority = level AND ready_at <= at AND (ready_at, id) > (from_at, from_id)
      ORDER BY ready_at, id LIMIT most FOR UPDATE SKIP LOCKED) b
    WINDOW w AS (ORDER BY b.ready_at, b.id)) c
$$;
-- Buries those of the first `most` ready messages of a priority that must not run any more. Answers which, and why.
CREATE FUNCTION qops.weed(of_queue int, level smallint, most int, room bigint, always_one boolean, spent_at bigint,
    from_at timestamptz, from_id bigint, at timestamptz) RETURNS TABLE(buried bigint, why text) LANGUAGE plpgsql AS $$
DECLARE m record;
BEGIN
  FOR m IN SELECT * FROM (
      SELECT b.*, sum(b.size) OVER w <= room OR (always_one AND row_number() OVER w = 1) AS fits FROM (
        SELECT id, ready_at, group_key, coalesce(octet_length(payload), octet_length(payload_bin)) AS size, expires_at <= at AS expired,
          (expires_at IS NULL OR expires_at > at) AND attempts < coalesce(max_attempts, spent_at) AS fit
        FROM qops.message
        WHERE queue_id = of_queue AND state = 0 AND priority = level AND ready_at <= at AND (ready_at, id) > (from_at, from_id)
        ORDER BY ready_at, id LIMIT most FOR UPDATE SKIP LOCKED) b
      WINDOW w AS (ORDER BY b.ready_at, b.id)) c WHERE c.fits AND NOT c.fit ORDER BY c.ready_at, c.id LOOP
    -- Whoever holds the group goes first; the next claim comes here again.
    CONTINUE WHEN m.group_key IS NOT NULL AND NOT pg_try_advisory_xact_lock(qops.group_lock(of_queue, m.group_key));
    buried := m.id;
    why := CASE WHEN m.expired THEN 'expired' WHEN (SELECT d.doubt_at FROM qops.doubt(m.id) d) IS NULL THEN 'attempts' ELSE 'worker_lost' END;
    PERFORM qops.bury(m.id, why, NULL, at);
    RETURN NEXT;
  END LOOP;
END $$;
-- The highest priority that has a message waiting, between two of them.
CREATE FUNCTION qops.level_between(of_queue int, above smallint, below smallint) RETURNS smallint LANGUAGE sql STABLE AS $$
  SELECT priority FROM qops.message WHERE queue_id = of_queue AND state = 0 AND priority < below AND priority > above
  ORDER BY priority DESC LIMIT 1
$$;
-- Claims. `levels`, `level_at` and `level_id` say from where on a priority is looked at: what stands before it was taken, and its
-- dead rows would be gone through again.
CREATE FUNCTION qops.claim(me text, queue_name text, most int, most_bytes bigint, lease_us bigint, starts boolean, spent_at bigint,
    token bigint, levels smallint[], level_at timestamptz[], level_id bigint[], at timestamptz) RETURNS SETOF qops.turn
    LANGUAGE plpgsql AS $$
DECLARE
  flood CONSTANT int := 1000;
  lease_end CONSTANT timestamptz := at + lease_us * interval '1 microsecond';
  q record;
  r qops.turn;
  p record;
  got int := 0;
  used bigint := 0;
  buried int := 0;
  before int := 0;
  level smallint;
  below smallint := 127;
  known smallint[] := levels;
  i int := 1;
  from_at timestamptz;
  from_id bigint;
  is_full boolean := false;
  again boolean;
  soonest timestamptz;
  began CONSTANT timestamptz := clock_timestamp();
BEGIN
  r.kind := 3;
  SELECT queue.id, queue.paused_at INTO q FROM qops.queue WHERE name = queue_name;
  IF NOT FOUND OR q.paused_at IS NOT NULL THEN
    r.code := CASE WHEN q.paused_at IS NULL THEN 2 ELSE 1 END;
    RETURN NEXT r;
    RETURN;
  END IF;
  FOR p IN SELECT id FROM qops.reclaim(q.id, spent_at, flood, at) AS t(id) LOOP
    buried := buried + 1;
    r := NULL; r.kind := 2; r.id := p.id; r.note := 'worker_lost';
    RETURN NEXT r;
  END LOOP;
  before := buried;
  LOOP
    EXIT WHEN got >= most OR is_full;
    level := qops.level_between(q.id, coalesce(known[i], -127::smallint), below);
    from_at := '-infinity'; from_id := 0;
    IF level IS NULL AND known[i] IS NOT NULL THEN
      level := known[i]; from_at := level_at[i]; from_id := level_id[i];
      i := i + 1;
    ELSIF level IS NULL THEN
      EXIT WHEN buried = before;
      -- What was buried may have freed the next of its group, of whatever priority.
      before := buried; below := 127; i := 1; known := '{}'; soonest := NULL;
      CONTINUE;
    END IF;
    below := level;
    LOOP
      p := qops.pick(q.id, level, most - got, most_bytes - used, got = 0, spent_at, from_at, from_id, at);
      again := false;
      IF p.unfit THEN
        FOR r IN SELECT 2::smallint, NULL::int, NULL::smallint, w.why, NULL::bigint, w.buried
            FROM qops.weed(q.id, level, most - got, most_bytes - used, got = 0, spent_at, from_at, from_id, at) w LOOP
          buried := buried + 1; again := true;
          RETURN NEXT r;
        END LOOP;
      END IF;
      IF p.ids IS NOT NULL THEN
        used := used + p.bytes;
        got := got + cardinality(p.ids);
        RETURN QUERY WITH taken AS (
            UPDATE qops.message m SET state = 1, lease_until = lease_end, lease_token = token, worker = me,
              started_at = CASE WHEN starts THEN at END, attempts = m.attempts + starts::int, deliveries = m.deliveries + 1
            WHERE m.id = ANY (p.ids) RETURNING m.*)
          SELECT 1::smallint, NULL::int, NULL::smallint, NULL::text, t.lease_token, t.id, t.queue_id, t.state, t.priority, t.ready_at,
            t.enqueued_at, t.expires_at, t.attempts, t.deferrals, t.deliveries, t.replays, t.max_attempts, t.key, t.group_key,
            t.headers::text, t.last_error, t.lease_until, t.worker, t.started_at, NULL::timestamptz, NULL::text, t.payload,
            t.payload_bin, d.doubt_at, d.doubt_worker
          FROM taken t LEFT JOIN LATERAL qops.doubt(t.id) d ON t.deliveries > 1;
      END IF;
      IF (p.over AND NOT again) OR buried >= flood THEN is_full := true; END IF;
      -- Burying may have freed the next of a group, and made room for others and for their bytes.
      EXIT WHEN is_full OR NOT again OR got >= most;
    END LOOP;
    IF got < most THEN
      soonest := least(soonest, (SELECT ready_at FROM qops.message WHERE queue_id = q.id AND state = 0 AND priority = level
        AND ready_at > at ORDER BY ready_at LIMIT 1));
    END IF;
  END LOOP;
  r := NULL; r.kind := 3;
  r.pos := (extract(epoch FROM clock_timestamp() - began) * 1000000)::int;
  IF got < most AND is_full THEN
    r.number := 0;
  ELSIF got < most THEN
    soonest := least(soonest, (SELECT lease_until FROM qops.message WHERE queue_id = q.id AND state = 1
      ORDER BY lease_until LIMIT 1));
    r.number := CASE WHEN soonest IS NOT NULL THEN greatest(0, (extract(epoch FROM soonest - at) * 1000000)::bigint) END;
  END IF;
  RETURN NEXT r;
END $$;
-- Dead letters claimed where they lie, in this order: nothing is charged. Kind 5: one that somebody holds.
CREATE FUNCTION qops.claim_dead(me text, ids bigint[], lease_us bigint, starts boolean, token bigint, at timestamptz)
    RETURNS SETOF qops.turn LANGUAGE plpgsql AS $$
DECLARE
  d qops.dead;
  r qops.turn;
  of_id bigint;
BEGIN
  FOREACH of_id IN ARRAY ids LOOP
    SELECT * INTO d FROM qops.dead WHERE id = of_id FOR UPDATE;
    CONTINUE WHEN NOT FOUND;
    IF d.lease_until > at THEN
      r := NULL; r.kind := 5; r.id := d.id; r.lease_until := d.lease_until;
      RETURN NEXT r;
      CONTINUE;
    END IF;
    PERFORM qops.close_run(d.id, d.deliveries, d.attempts, d.started_at, d.worker, NULL, 'lost', at);
    UPDATE qops.dead SET lease_until = at + lease_us * interval '1 microsecond', lease_token = token, worker = me,
      started_at = CASE WHEN starts THEN at END, deliveries = deliveries + 1 WHERE id = of_id RETURNING * INTO d;
    SELECT 1::smallint, NULL::int, NULL::smallint, NULL::text, d.lease_token, d.id, d.queue_id, 3::smallint, d.priority, d.ready_at,
      d.enqueued_at, d.expires_at, d.attempts, d.deferrals, d.deliveries, d.replays, d.max_attempts, d.key, d.group_key,
      d.headers::text, d.last_error, d.lease_until, d.worker, d.started_at, d.died_at, d.reason, d.payload, d.payload_bin,
      o.doubt_at, o.doubt_worker INTO r FROM (SELECT 1) x LEFT JOIN LATERAL qops.doubt(d.id) o ON d.deliveries > 1;
    RETURN NEXT r;
  END LOOP;
END $$;
