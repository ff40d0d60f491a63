-- The message is gone; its key stays taken until then.
UPDATE qops_dedup SET expires_at=?3 WHERE queue_id=?1 AND key=?2
