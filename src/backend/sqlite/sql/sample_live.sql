SELECT queue_id, state, ready_at FROM qops_message WHERE id=?1
