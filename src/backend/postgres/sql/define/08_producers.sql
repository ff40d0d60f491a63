-- Puts one message in. Answers its id; where the key is taken, the id of the message that has it, and that it is not fresh.
CREATE FUNCTION qops.put(of_queue text, as_text text, as_bytes bytea, of_key text, of_group text, of_priority int,
    due timestamptz, delay interval, ends timestamptz, ttl interval, with_headers json, max_tries bigint, skew_us bigint,
    OUT id bigint, OUT fresh boolean) LANGUAGE plpgsql AS $$
DECLARE
  q record;
  at timestamptz := clock_timestamp() + skew_us * interval '1 microsecond';
  stands smallint := 0;
BEGIN
  SELECT queue.id, queue.ttl_us INTO q FROM qops.queue WHERE name = of_queue;
  IF NOT FOUND THEN
    PERFORM qops.make_queue(of_queue);
    SELECT queue.id, queue.ttl_us INTO q FROM qops.queue WHERE name = of_queue;
  END IF;
  IF of_group IS NOT NULL THEN
    PERFORM pg_advisory_xact_lock(qops.group_lock(q.id, of_group));
  END IF;
  id := nextval('qops.message_id_seq');
  IF of_key IS NOT NULL THEN
    LOOP
      INSERT INTO qops.dedup AS d(queue_id, key, message_id) VALUES (q.id, of_key, put.id)
        ON CONFLICT (queue_id, key) DO UPDATE SET message_id = excluded.message_id, expires_at = NULL WHERE d.expires_at <= at;
      EXIT WHEN FOUND;
      SELECT message_id INTO id FROM qops.dedup WHERE queue_id = q.id AND key = of_key;
      IF FOUND THEN fresh := false; RETURN; END IF;
      id := nextval('qops.message_id_seq');
    END LOOP;
  END IF;
  IF of_group IS NOT NULL AND EXISTS (SELECT 1 FROM qops.message m WHERE m.queue_id = q.id AND m.group_key = of_group) THEN
    stands := 2;
  END IF;
  INSERT INTO qops.message(id, queue_id, state, priority, ready_at, enqueued_at, expires_at, max_attempts, key, group_key, headers,
    payload, payload_bin)
  VALUES (put.id, q.id, stands, coalesce(of_priority, 0), coalesce(due, at + coalesce(delay, interval '0')), at,
    coalesce(ends, at + ttl, at + q.ttl_us * interval '1 microsecond'), max_tries, of_key, of_group, with_headers, as_text, as_bytes);
  PERFORM qops.ring(of_queue);
  fresh := true;
END $$;
-- What a producer may get wrong.
CREATE FUNCTION qops.checked(payload_bytes int, of_key text, of_group text, delay interval, ttl interval, headers jsonb) RETURNS json
    LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF payload_bytes IS NULL THEN RAISE EXCEPTION 'qops: the payload is NULL' USING ERRCODE = '22023'; END IF;
  IF payload_bytes > 16777216 THEN RAISE EXCEPTION 'qops: the payload is over 16 MiB' USING ERRCODE = '22023'; END IF;
  IF of_key = '' OR of_group = '' THEN
    RAISE EXCEPTION 'qops: an empty key or group_key; NULL is none' USING ERRCODE = '22023';
  END IF;
  IF delay < interval '0' THEN RAISE EXCEPTION 'qops: a negative delay' USING ERRCODE = '22023'; END IF;
  IF ttl <= coalesce(delay, interval '0') THEN
    RAISE EXCEPTION 'qops: the ttl ends before the delay: it would never run' USING ERRCODE = '22023';
  END IF;
  IF jsonb_typeof(headers) <> 'object' THEN
    RAISE EXCEPTION 'qops: headers are a JSON object of texts' USING ERRCODE = '22023';
  END IF;
  RETURN headers::json;
END $$;
-- A queue comes into being with its first message.
CREATE FUNCTION qops.make_queue(of_name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF of_name IS NULL OR of_name = '-' OR of_name ~ '[[:cntrl:]]' OR of_name <> btrim(of_name) THEN
    RAISE EXCEPTION 'qops: % is no queue''s name', quote_nullable(of_name) USING ERRCODE = '22023';
  END IF;
  INSERT INTO qops.queue(name) VALUES (of_name) ON CONFLICT (name) DO NOTHING;
END $$;
-- The producers' door, inside the application's own transaction. Answers the message's id; where a key is taken, that of the message
-- that has it.
CREATE FUNCTION qops.enqueue(queue text, payload text, key text DEFAULT NULL, group_key text DEFAULT NULL, priority int DEFAULT 0,
    delay interval DEFAULT NULL, ttl interval DEFAULT NULL, headers jsonb DEFAULT NULL, max_attempts int DEFAULT NULL) RETURNS bigint
    LANGUAGE sql AS $$
  SELECT id FROM qops.put(queue, payload, NULL, key, group_key, priority, NULL, delay, NULL, ttl,
    qops.checked(octet_length(payload), key, group_key, delay, ttl, headers), max_attempts, 0)
$$;
CREATE FUNCTION qops.enqueue(queue text, payload jsonb, key text DEFAULT NULL, group_key text DEFAULT NULL, priority int DEFAULT 0,
    delay interval DEFAULT NULL, ttl interval DEFAULT NULL, headers jsonb DEFAULT NULL, max_attempts int DEFAULT NULL) RETURNS bigint
    LANGUAGE sql AS $$
  SELECT id FROM qops.put(queue, payload::text, NULL, key, group_key, priority, NULL, delay, NULL, ttl,
    qops.checked(octet_length(payload::text), key, group_key, delay, ttl, headers), max_attempts, 0)
$$;
CREATE FUNCTION qops.enqueue(queue text, payload bytea, key text DEFAULT NULL, group_key text DEFAULT NULL, priority int DEFAULT 0,
    delay interval DEFAULT NULL, ttl interval DEFAULT NULL, headers jsonb DEFAULT NULL, max_attempts int DEFAULT NULL) RETURNS bigint
    LANGUAGE sql AS $$
  SELECT id FROM qops.put(queue, NULL, payload, key, group_key, priority, NULL, delay, NULL, ttl,
    qops.checked(octet_length(payload), key, group_key, delay, ttl, headers), max_attempts, 0)
$$;
