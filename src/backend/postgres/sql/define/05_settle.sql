-- What became of a verdict: 0 it took, 1 the receipt is not good and the message waits, 2 somebody holds it, 3 it is dead, 4 it is gone.
CREATE TYPE qops.settled AS (code smallint, note text);
-- One verdict: 1 start, 2 extend, 3 done, 4 retry, 5 retry without a charge, 6 dead, 7 release. A receipt is good until its lease
-- ends or the message is claimed again.
CREATE FUNCTION qops.settle_one(of_id bigint, of_token bigint, verdict smallint, due timestamptz, wait_us bigint, why text,
    ended qops.run_end, at timestamptz) RETURNS qops.settled LANGUAGE plpgsql AS $$
DECLARE
  m qops.message;
  d qops.dead;
  later timestamptz := coalesce(due, at + wait_us * interval '1 microsecond');
  said text := CASE WHEN verdict BETWEEN 4 AND 6 THEN (ended).error END;
BEGIN
  SELECT * INTO m FROM qops.message WHERE id = of_id FOR UPDATE;
  IF FOUND THEN
    IF (m.state = 1 AND m.lease_token = of_token AND m.lease_until > at) IS NOT TRUE THEN
      IF m.state = 1 AND m.lease_until > at THEN RETURN (2::smallint, m.worker); END IF;
      RETURN (1::smallint, NULL::text);
    END IF;
    IF m.group_key IS NOT NULL AND verdict IN (1, 3, 6) THEN
      PERFORM pg_advisory_xact_lock(qops.group_lock(m.queue_id, m.group_key));
    END IF;
    IF verdict = 1 THEN
      IF m.started_at IS NULL AND m.expires_at <= at THEN
        PERFORM qops.bury(m.id, 'expired', NULL, at);
        RETURN (3::smallint, 'expired'::text);
      END IF;
      UPDATE qops.message SET attempts = attempts + (started_at IS NULL)::int, started_at = coalesce(started_at, at) WHERE id = m.id;
    ELSIF verdict = 2 THEN
      UPDATE qops.message SET lease_until = later WHERE id = m.id;
    ELSIF verdict = 3 THEN
      DELETE FROM qops.message WHERE id = m.id;
      DELETE FROM qops.attempt WHERE message_id = m.id;
      IF m.key IS NOT NULL THEN PERFORM qops.let_keys_go(m.queue_id, ARRAY[m.key], false, at); END IF;
      IF m.group_key IS NOT NULL THEN PERFORM qops.promote(m.queue_id, m.group_key); END IF;
    ELSIF verdict = 6 THEN
      PERFORM qops.close_run(m.id, m.deliveries, m.attempts, m.started_at, m.worker, ended,
        CASE WHEN why = 'permanent' THEN why ELSE 'failed' END, at);
      PERFORM qops.bury(m.id, why, said, at);
    ELSE
      PERFORM qops.close_run(m.id, m.deliveries, m.attempts, m.started_at, m.worker, ended,
        CASE verdict WHEN 4 THEN 'failed' WHEN 5 THEN 'temporary' ELSE 'released' END, at);
      UPDATE qops.message SET state = 0, lease_until = NULL, lease_token = NULL, worker = NULL, started_at = NULL,
        attempts = CASE WHEN verdict = 4 OR started_at IS NULL THEN attempts ELSE greatest(attempts - 1, 0) END,
        deferrals = CASE verdict WHEN 4 THEN 0 WHEN 5 THEN deferrals + 1 ELSE deferrals END,
        ready_at = CASE WHEN verdict = 7 THEN ready_at ELSE later END, last_error = coalesce(said, last_error)
      WHERE id = m.id;
    END IF;
    RETURN (0::smallint, NULL::text);
  END IF;
  SELECT * INTO d FROM qops.dead WHERE id = of_id FOR UPDATE;
  IF NOT FOUND THEN RETURN (4::smallint, NULL::text); END IF;
  IF (d.lease_token = of_token AND d.lease_until > at) IS NOT TRUE THEN RETURN (3::smallint, d.reason); END IF;
  -- A letter stays dead whatever its command said: nothing is charged and nothing comes back.
  IF verdict = 1 THEN
    UPDATE qops.dead SET started_at = coalesce(started_at, at) WHERE id = d.id;
  ELSIF verdict = 2 THEN
    UPDATE qops.dead SET lease_until = later WHERE id = d.id;
  ELSIF verdict = 3 THEN
    DELETE FROM qops.dead WHERE id = d.id;
    DELETE FROM qops.attempt WHERE message_id = d.id;
    IF d.key IS NOT NULL THEN PERFORM qops.let_keys_go(d.queue_id, ARRAY[d.key], false, at); END IF;
  ELSE
    PERFORM qops.close_run(d.id, d.deliveries, d.attempts, d.started_at, d.worker, ended,
      CASE WHEN verdict = 7 THEN 'released' ELSE 'failed' END, at);
    UPDATE qops.dead SET lease_until = NULL, lease_token = NULL, worker = NULL, started_at = NULL,
      last_error = coalesce(said, last_error) WHERE id = d.id;
  END IF;
  RETURN (0::smallint, NULL::text);
END $$;
