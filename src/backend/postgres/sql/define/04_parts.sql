-- How the run of a message ended, as its worker said it.
CREATE TYPE qops.run_end AS (outcome text, exit int, signal int, took_us bigint, error text, stderr bytea);
-- Writes an open run's row: how its worker says it ended, else `otherwise` and the time since its start.
CREATE FUNCTION qops.close_run(id bigint, of_delivery bigint, of_attempt int, began timestamptz, by_worker text,
    ended qops.run_end, otherwise text, at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF began IS NULL THEN RETURN; END IF;
  INSERT INTO qops.attempt AS a(message_id, delivery, attempt, started_at, worker, took_us, outcome, exit, signal, error, stderr)
  VALUES (id, of_delivery, of_attempt, began, by_worker,
    CASE WHEN (ended).outcome IS NOT NULL THEN (ended).took_us WHEN otherwise <> 'lost' THEN
      greatest(0, (extract(epoch FROM at - began) * 1000000)::bigint) END,
    CASE WHEN otherwise = 'released' THEN otherwise ELSE coalesce((ended).outcome, otherwise) END,
    (ended).exit, (ended).signal, (ended).error, (ended).stderr)
  ON CONFLICT (message_id, delivery) DO UPDATE SET attempt = excluded.attempt, started_at = excluded.started_at,
    worker = excluded.worker, took_us = excluded.took_us, outcome = excluded.outcome, exit = excluded.exit,
    signal = excluded.signal, error = excluded.error, stderr = excluded.stderr;
  IF of_delivery > 200 THEN
    DELETE FROM qops.attempt a WHERE a.message_id = id AND a.delivery <= (
      SELECT b.delivery FROM qops.attempt b WHERE b.message_id = id ORDER BY b.delivery DESC LIMIT 1 OFFSET 200);
  END IF;
END $$;
-- A live message becomes a dead letter; the next of its group goes on. Its key stays taken. The group's lock is held.
CREATE FUNCTION qops.bury(of_id bigint, why text, said text, at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE m qops.message;
BEGIN
  DELETE FROM qops.message WHERE id = of_id RETURNING * INTO m;
  INSERT INTO qops.dead(id, queue_id, died_at, reason, priority, ready_at, enqueued_at, expires_at, attempts, deferrals, deliveries,
    replays, max_attempts, key, group_key, headers, last_error, payload, payload_bin)
  VALUES (m.id, m.queue_id, at, why, m.priority, m.ready_at, m.enqueued_at, m.expires_at, m.attempts, m.deferrals, m.deliveries,
    m.replays, m.max_attempts, m.key, m.group_key, m.headers, coalesce(said, m.last_error), m.payload, m.payload_bin);
  IF m.group_key IS NOT NULL THEN PERFORM qops.promote(m.queue_id, m.group_key); END IF;
END $$;
-- Keys of messages that go: free at once, or taken until the queue's window has passed. Seven days where it has none of its own.
CREATE FUNCTION qops.let_keys_go(of_queue int, keys text[], free boolean, at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE span bigint;
BEGIN
  IF NOT free THEN SELECT coalesce(dedup_window_us, 604800000000) INTO span FROM qops.queue WHERE id = of_queue; END IF;
  IF free OR span = 0 THEN
    DELETE FROM qops.dedup WHERE queue_id = of_queue AND key = ANY (keys);
  ELSE
    UPDATE qops.dedup SET expires_at = CASE WHEN span < 0 THEN 'infinity' ELSE at + span * interval '1 microsecond' END
      WHERE queue_id = of_queue AND key = ANY (keys);
  END IF;
END $$;
-- A lease that has ended: back in its place; a run that was started stands in the history as lost.
CREATE FUNCTION qops.take_back(m qops.message, at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM qops.close_run(m.id, m.deliveries, m.attempts, m.started_at, m.worker, NULL, 'lost', at);
  UPDATE qops.message SET state = 0, lease_until = NULL, lease_token = NULL, worker = NULL, started_at = NULL WHERE id = m.id;
END $$;
