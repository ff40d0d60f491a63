SELECT id, ready_at, queue_id, state, enqueued_at, NULL, key, group_key, state=1, deliveries, 0
FROM qops_message WHERE id=?1
