SELECT id FROM qops_message WHERE queue_id=?1 AND state=2 AND id<?2 ORDER BY id DESC LIMIT ?3
