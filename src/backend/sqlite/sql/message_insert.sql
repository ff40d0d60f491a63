INSERT INTO qops_message(queue_id, state, priority, ready_at, enqueued_at, expires_at, max_attempts, key, group_key, headers, payload)
VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
