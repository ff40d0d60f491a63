DELETE FROM qops_message WHERE id=?1 AND lease_token=?2 AND lease_until>?3
RETURNING queue_id, key, group_key, deliveries
