-- The worker's one round trip: the verdicts, then a claim, in one transaction. Common verdicts are taken by one statement each; what
-- they leave is looked at one by one. `in_order`: a message stands in it twice. `grouped`: some are members of a group.
CREATE FUNCTION qops.exchange(skew_us bigint, me text, s_id bigint[], s_token bigint[], s_verdict smallint[], s_due timestamptz[],
    s_wait bigint[], s_why text[], e_outcome text[], e_exit int[], e_signal int[], e_took bigint[], e_error text[], e_stderr bytea[],
    in_order boolean, grouped boolean, c_queue text, c_most int, c_bytes bigint, c_lease bigint, c_starts boolean, c_spent bigint,
    c_token bigint, c_levels smallint[], c_level_at timestamptz[], c_level_id bigint[])
    RETURNS SETOF qops.turn LANGUAGE plpgsql AS $$
DECLARE
  n CONSTANT int := cardinality(s_id);
  at timestamptz;
  taken boolean[] := array_fill(false, ARRAY[n]);
  hits int[];
  went record;
  i int;
  s qops.settled;
  r qops.turn;
  given_back int[] := '{}';
BEGIN
  IF grouped THEN
    PERFORM pg_advisory_xact_lock(l) FROM (
      SELECT DISTINCT qops.group_lock(queue_id, group_key) AS l FROM qops.message
      WHERE id = ANY (s_id) AND group_key IS NOT NULL ORDER BY 1) g;
  END IF;
  at := clock_timestamp() + skew_us * interval '1 microsecond';
  IF NOT in_order AND 1 = ANY (s_verdict) THEN
    WITH u AS (
      UPDATE qops.message m SET attempts = m.attempts + (m.started_at IS NULL)::int, started_at = coalesce(m.started_at, at)
      FROM unnest(s_id, s_token, s_verdict) WITH ORDINALITY AS v(id, token, verdict, pos)
      WHERE v.verdict = 1 AND m.id = v.id AND m.state = 1 AND m.lease_token = v.token AND m.lease_until > at
        AND (m.started_at IS NOT NULL OR m.expires_at IS NULL OR m.expires_at > at)
      RETURNING v.pos)
    SELECT array_agg(pos) INTO hits FROM u;
    FOREACH i IN ARRAY coalesce(hits, '{}') LOOP taken[i] := true; END LOOP;
  END IF;
  IF NOT in_order AND 2 = ANY (s_verdict) THEN
    WITH u AS (
      UPDATE qops.message m SET lease_until = at + v.wait * interval '1 microsecond'
      FROM unnest(s_id, s_token, s_verdict, s_wait) WITH ORDINALITY AS v(id, token, verdict, wait, pos)
      WHERE v.verdict = 2 AND m.id = v.id AND m.state = 1 AND m.lease_token = v.token AND m.lease_until > at
      RETURNING v.pos)
    SELECT array_agg(pos) INTO hits FROM u;
    FOREACH i IN ARRAY coalesce(hits, '{}') LOOP taken[i] := true; END LOOP;
  END IF;
  IF NOT in_order AND 3 = ANY (s_verdict) THEN
    WITH u AS (
      DELETE FROM qops.message m USING unnest(s_id, s_token, s_verdict) WITH ORDINALITY AS v(id, token, verdict, pos)
      WHERE v.verdict = 3 AND m.id = v.id AND m.state = 1 AND m.lease_token = v.token AND m.lease_until > at
        AND (grouped OR m.group_key IS NULL)
      RETURNING v.pos, m.id, m.queue_id, m.key, m.group_key, m.deliveries)
    SELECT array_agg(pos) AS pos, array_agg(id) FILTER (WHERE deliveries > 1) AS ran, count(key) AS keys, count(group_key) AS groups,
      array_agg(queue_id) AS queue_ids, array_agg(key) AS key_names, array_agg(group_key) AS group_keys INTO went FROM u;
    FOREACH i IN ARRAY coalesce(went.pos, '{}') LOOP taken[i] := true; END LOOP;
    IF went.ran IS NOT NULL THEN DELETE FROM qops.attempt WHERE message_id = ANY (went.ran); END IF;
    IF went.keys > 0 THEN
      PERFORM qops.let_keys_go(k.queue_id, k.keys, false, at) FROM (
        SELECT u.queue_id, array_agg(u.key ORDER BY u.key) AS keys FROM unnest(went.queue_ids, went.key_names) AS u(queue_id, key)
        WHERE u.key IS NOT NULL GROUP BY u.queue_id ORDER BY u.queue_id) k;
    END IF;
    IF went.groups > 0 THEN
      PERFORM qops.promote(g.queue_id, g.group_key) FROM (
        SELECT DISTINCT u.queue_id, u.group_key FROM unnest(went.queue_ids, went.group_keys) AS u(queue_id, group_key)
        WHERE u.group_key IS NOT NULL) g;
      given_back := given_back || went.queue_ids;
    END IF;
  END IF;
  r.kind := 0;
  FOR i IN 1..n LOOP
    r.pos := i; r.code := 0; r.note := NULL;
    IF NOT taken[i] THEN
      IF s_verdict[i] > 2 THEN
        given_back := given_back || coalesce((SELECT queue_id FROM qops.message WHERE id = s_id[i]), 0);
      END IF;
      s := qops.settle_one(s_id[i], s_token[i], s_verdict[i], s_due[i], s_wait[i], s_why[i],
        (e_outcome[i], e_exit[i], e_signal[i], e_took[i], e_error[i], e_stderr[i])::qops.run_end, at);
      r.code := s.code; r.note := s.note;
    END IF;
    RETURN NEXT r;
  END LOOP;
  IF cardinality(given_back) > 0 THEN
    PERFORM qops.ring(name) FROM qops.queue WHERE id = ANY (given_back);
  END IF;
  IF c_queue IS NULL THEN RETURN; END IF;
  IF n = 0 THEN
    RETURN QUERY SELECT * FROM qops.claim(me, c_queue, c_most, c_bytes, c_lease, c_starts, c_spent, c_token, c_levels, c_level_at,
      c_level_id, at);
    RETURN;
  END IF;
  -- A claim that fails takes only itself back: what was settled before it stands.
  BEGIN
    RETURN QUERY SELECT * FROM qops.claim(me, c_queue, c_most, c_bytes, c_lease, c_starts, c_spent, c_token, c_levels, c_level_at,
      c_level_id, at);
  EXCEPTION WHEN OTHERS THEN
    r := NULL; r.kind := 4; r.note := SQLSTATE || ' ' || SQLERRM;
    RETURN NEXT r;
  END;
END $$;
