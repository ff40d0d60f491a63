-- Version 1. Nothing newer than SQLite 3.35, no function of ours: any client can use these tables and views.
-- Times are whole microseconds since 1970, UTC. The version is a row, never user_version or application_id: the queue
-- may live in an application's own file.
CREATE TABLE qops_meta(version INTEGER NOT NULL, min_client INTEGER NOT NULL);
CREATE TABLE qops_queue(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE CHECK(typeof(name)='text' AND length(CAST(name AS BLOB)) BETWEEN 1 AND 200
    AND name=trim(name,' '||char(160,5760,8192,8193,8194,8195,8196,8197,8198,8199,8200,8201,8202,8232,8233,8239,8287,12288))
    AND name<>'-' AND instr(name,char(0))=0
    AND name NOT GLOB '*['||char(1)||'-'||char(31)||char(127)||'-'||char(159)||']*'),
  paused_at INTEGER, max_attempts INTEGER, lease_us INTEGER, backoff_us TEXT,
  dedup_window_us INTEGER,                -- -1: for ever
  ttl_us INTEGER, created_at INTEGER NOT NULL);
CREATE TABLE qops_message(
  id INTEGER PRIMARY KEY AUTOINCREMENT,   -- AUTOINCREMENT: an id is never used twice
  queue_id INTEGER NOT NULL,
  state INTEGER NOT NULL DEFAULT 0 CHECK(state BETWEEN 0 AND 2),   -- 0 ready or delayed, 1 running, 2 blocked
  priority INTEGER NOT NULL DEFAULT 0 CHECK(typeof(priority)='integer' AND priority BETWEEN -9 AND 9),
  ready_at INTEGER NOT NULL CHECK(typeof(ready_at)='integer'), enqueued_at INTEGER NOT NULL,
  expires_at INTEGER CHECK(expires_at IS NULL OR typeof(expires_at)='integer'),
  attempts INTEGER NOT NULL DEFAULT 0, deferrals INTEGER NOT NULL DEFAULT 0,
  deliveries INTEGER NOT NULL DEFAULT 0, replays INTEGER NOT NULL DEFAULT 0,
  max_attempts INTEGER CHECK(max_attempts IS NULL OR (typeof(max_attempts)='integer' AND max_attempts BETWEEN 1 AND 4294967295)),
  lease_until INTEGER, lease_token INTEGER, worker TEXT, started_at INTEGER,
  key TEXT CHECK(key IS NULL OR typeof(key)='text'), group_key TEXT CHECK(group_key IS NULL OR typeof(group_key)='text'),
  headers TEXT, last_error TEXT,
  payload NOT NULL CHECK(typeof(payload) IN ('text','blob')),
  CHECK((state=1)=(lease_token IS NOT NULL)), CHECK(state<>2 OR group_key IS NOT NULL));
-- A claim seeks once a priority; delayed messages stand behind the ready ones of theirs.
CREATE INDEX qops_message_ready ON qops_message(queue_id, priority DESC, ready_at, id) WHERE state=0;
CREATE INDEX qops_message_expires ON qops_message(expires_at) WHERE expires_at IS NOT NULL AND state<>1;
CREATE INDEX qops_message_lease ON qops_message(queue_id, lease_until) WHERE state=1;
CREATE INDEX qops_message_blocked ON qops_message(queue_id, id) WHERE state=2;
CREATE INDEX qops_message_group ON qops_message(queue_id, group_key, id) WHERE group_key IS NOT NULL;
CREATE UNIQUE INDEX qops_message_group_head ON qops_message(queue_id, group_key) WHERE state<2 AND group_key IS NOT NULL;
CREATE TABLE qops_dead(
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id INTEGER NOT NULL UNIQUE, queue_id INTEGER NOT NULL,
  died_at INTEGER NOT NULL, reason TEXT NOT NULL, priority INTEGER NOT NULL, ready_at INTEGER NOT NULL,
  enqueued_at INTEGER NOT NULL, expires_at INTEGER,
  attempts INTEGER NOT NULL, deferrals INTEGER NOT NULL, deliveries INTEGER NOT NULL, replays INTEGER NOT NULL,
  max_attempts INTEGER, key TEXT, group_key TEXT, headers TEXT, last_error TEXT,
  lease_until INTEGER, lease_token INTEGER, worker TEXT, started_at INTEGER, payload NOT NULL);
CREATE INDEX qops_dead_queue ON qops_dead(queue_id, seq);
CREATE TABLE qops_dedup(
  queue_id INTEGER NOT NULL, key TEXT NOT NULL, message_id INTEGER NOT NULL,
  expires_at INTEGER,                     -- NULL: while the message lives; the largest number: for ever
  PRIMARY KEY(queue_id,key)) WITHOUT ROWID;
CREATE INDEX qops_dedup_expires ON qops_dedup(expires_at) WHERE expires_at IS NOT NULL;
CREATE TABLE qops_attempt(
  message_id INTEGER NOT NULL, delivery INTEGER NOT NULL, attempt INTEGER NOT NULL, started_at INTEGER NOT NULL,
  took_us INTEGER, worker TEXT, outcome TEXT NOT NULL, exit INTEGER, signal INTEGER, error TEXT, stderr BLOB,
  PRIMARY KEY(message_id, delivery)) WITHOUT ROWID;
-- The producers' door, inside the application's own transaction:
-- INSERT INTO qops_enqueue(queue, payload[, key, group_key, priority, delay_seconds, ttl_seconds, headers, max_attempts])
CREATE VIEW qops_enqueue AS SELECT NULL AS queue, NULL AS payload, NULL AS key, NULL AS group_key, NULL AS priority,
  NULL AS delay_seconds, NULL AS ttl_seconds, NULL AS headers, NULL AS max_attempts WHERE 0;
-- SQLite reads '5m' as 5 and 'abc' as 0, so that what is no number is refused before it is one.
CREATE TRIGGER qops_enqueue_insert INSTEAD OF INSERT ON qops_enqueue BEGIN
  SELECT CASE
    WHEN NEW.key='' OR NEW.group_key='' THEN RAISE(ABORT,'qops_enqueue: an empty key or group_key; NULL is none')
    WHEN CAST(NEW.delay_seconds AS TEXT)<>CAST(CAST(NEW.delay_seconds AS NUMERIC) AS TEXT) OR NEW.delay_seconds+0<0
      THEN RAISE(ABORT,'qops_enqueue: delay_seconds is a number of seconds from 0 on')
    WHEN CAST(NEW.ttl_seconds AS TEXT)<>CAST(CAST(NEW.ttl_seconds AS NUMERIC) AS TEXT) OR NEW.ttl_seconds+0<=0
      THEN RAISE(ABORT,'qops_enqueue: ttl_seconds is a number of seconds above 0')
    WHEN NEW.ttl_seconds+0<=NEW.delay_seconds+0
      THEN RAISE(ABORT,'qops_enqueue: ttl_seconds end before delay_seconds: it would never run')
    WHEN NEW.headers NOT GLOB '{*}' THEN RAISE(ABORT,'qops_enqueue: headers are a JSON object of texts')
    WHEN length(CAST(NEW.payload AS BLOB))>16777216 THEN RAISE(ABORT,'qops_enqueue: the payload is over 16 MiB') END;
  INSERT INTO qops_queue(name,created_at)
    SELECT NEW.queue, CAST((julianday('now')-2440587.5)*86400000000 AS INTEGER)
    WHERE NOT EXISTS(SELECT 1 FROM qops_queue WHERE name=NEW.queue);
  DELETE FROM qops_dedup WHERE queue_id=(SELECT id FROM qops_queue WHERE name=NEW.queue) AND key=NEW.key
    AND expires_at<=CAST((julianday('now')-2440587.5)*86400000000 AS INTEGER);
  INSERT INTO qops_message(queue_id,state,priority,ready_at,enqueued_at,expires_at,max_attempts,key,group_key,headers,payload)
    SELECT q.id, CASE WHEN NEW.group_key IS NOT NULL AND EXISTS(SELECT 1 FROM qops_message m
        WHERE m.queue_id=q.id AND m.group_key=NEW.group_key) THEN 2 ELSE 0 END,
      coalesce(NEW.priority,0), t.now+CAST(coalesce(NEW.delay_seconds,0)*1000000 AS INTEGER), t.now,
      t.now+coalesce(CAST(NEW.ttl_seconds*1000000 AS INTEGER), q.ttl_us),
      NEW.max_attempts, NEW.key, NEW.group_key, NEW.headers, NEW.payload
    FROM qops_queue q, (SELECT CAST((julianday('now')-2440587.5)*86400000000 AS INTEGER) AS now) t
    WHERE q.name=NEW.queue
      AND (NEW.key IS NULL OR NOT EXISTS(SELECT 1 FROM qops_dedup d WHERE d.queue_id=q.id AND d.key=NEW.key));
  INSERT INTO qops_dedup(queue_id,key,message_id) SELECT m.queue_id, m.key, m.id FROM qops_message m
    WHERE NEW.key IS NOT NULL AND m.id=last_insert_rowid() AND m.key=NEW.key
      AND m.queue_id=(SELECT id FROM qops_queue WHERE name=NEW.queue)
      AND NOT EXISTS(SELECT 1 FROM qops_dedup d WHERE d.queue_id=m.queue_id AND d.key=NEW.key);
END;
-- The queue as a person reads it, at this moment.
CREATE VIEW qops_messages AS
  SELECT m.id AS id, q.name AS queue,
    CASE m.state WHEN 1 THEN 'running' WHEN 2 THEN 'blocked' ELSE CASE
      WHEN m.ready_at>CAST((julianday('now')-2440587.5)*86400000000 AS INTEGER) THEN 'delayed' ELSE 'ready' END END AS state,
    m.priority AS priority, m.attempts AS attempts, m.key AS key, m.group_key AS group_key, m.payload AS payload,
    strftime('%Y-%m-%dT%H:%M:%fZ', m.enqueued_at/1000000.0, 'unixepoch') AS enqueued_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', m.ready_at/1000000.0, 'unixepoch') AS ready_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', m.lease_until/1000000.0, 'unixepoch') AS lease_until,
    m.worker AS worker, NULL AS died_at, NULL AS reason, m.last_error AS last_error, m.replays AS replays, m.headers AS headers
  FROM qops_message m JOIN qops_queue q ON q.id=m.queue_id
  UNION ALL
  SELECT d.id, q.name, 'dead', d.priority, d.attempts, d.key, d.group_key, d.payload,
    strftime('%Y-%m-%dT%H:%M:%fZ', d.enqueued_at/1000000.0, 'unixepoch'),
    strftime('%Y-%m-%dT%H:%M:%fZ', d.ready_at/1000000.0, 'unixepoch'),
    strftime('%Y-%m-%dT%H:%M:%fZ', d.lease_until/1000000.0, 'unixepoch'),
    d.worker, strftime('%Y-%m-%dT%H:%M:%fZ', d.died_at/1000000.0, 'unixepoch'), d.reason, d.last_error, d.replays, d.headers
  FROM qops_dead d JOIN qops_queue q ON q.id=d.queue_id;
