-- The key stays taken until then; NULL is for ever, for a key whose message is gone.
UPDATE qops_dedup SET expires_at=?3 WHERE queue_id=?1 AND key=?2
