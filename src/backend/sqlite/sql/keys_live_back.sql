SELECT id, queue_id FROM qops_message WHERE id<?1 ORDER BY id DESC LIMIT ?2
