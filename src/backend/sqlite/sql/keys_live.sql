-- Of every queue: the caller passes over those of others, so that what is looked at is bounded.
SELECT id, queue_id FROM qops_message WHERE id>?1 ORDER BY id LIMIT ?2
