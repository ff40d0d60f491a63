-- Where a live message stands at an instant: 4 is delayed.
CREATE FUNCTION qops.stands(m qops.message, at timestamptz) RETURNS smallint LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN m.state = 0 AND m.ready_at > at THEN 4::smallint ELSE m.state END
$$;
-- Whether a selection means a live message. What is NULL is not asked for; `nothing`: it asks for a text that no row can have.
CREATE FUNCTION qops.means(m qops.message, at timestamptz, states smallint[], of_key text, of_group text, since timestamptz,
    until timestamptz, error text, grep bytea, grep_text text, nothing boolean) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT (CASE WHEN m.state = 0 AND m.ready_at > at THEN 4::smallint ELSE m.state END = ANY (states)
    AND (of_key IS NULL OR m.key = of_key) AND (of_group IS NULL OR m.group_key = of_group)
    AND (since IS NULL OR m.enqueued_at >= since) AND (until IS NULL OR m.enqueued_at <= until)
    AND (error IS NULL OR position(error IN m.last_error) > 0)
    AND (grep IS NULL OR CASE WHEN m.payload IS NULL THEN position(grep IN m.payload_bin) > 0 ELSE position(grep_text IN m.payload) > 0 END)
    AND NOT nothing) IS TRUE
$$;
-- The same of a dead letter: its times count by its death where dead letters alone are meant.
CREATE FUNCTION qops.means_letter(m qops.dead, states smallint[], of_key text, of_group text, since timestamptz, until timestamptz,
    error text, grep bytea, grep_text text, skip_expired boolean, only_dead boolean, nothing boolean) RETURNS boolean
    LANGUAGE sql IMMUTABLE AS $$
  SELECT (3 = ANY (states)
    AND (of_key IS NULL OR m.key = of_key) AND (of_group IS NULL OR m.group_key = of_group)
    AND (since IS NULL OR CASE WHEN only_dead THEN m.died_at ELSE m.enqueued_at END >= since)
    AND (until IS NULL OR CASE WHEN only_dead THEN m.died_at ELSE m.enqueued_at END <= until)
    AND (error IS NULL OR position(error IN m.last_error) > 0)
    AND (grep IS NULL OR CASE WHEN m.payload IS NULL THEN position(grep IN m.payload_bin) > 0 ELSE position(grep_text IN m.payload) > 0 END)
    AND NOT (skip_expired AND m.reason = 'expired') AND NOT nothing) IS TRUE
$$;
