COPY qops.message(id, queue_id, state, priority, ready_at, enqueued_at, expires_at, max_attempts, key, group_key, headers, payload,
  payload_bin) FROM STDIN BINARY
