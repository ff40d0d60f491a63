UPDATE qops_dedup SET expires_at=?3 WHERE queue_id=?2 AND key IN (SELECT key FROM qops_message WHERE id IN (SELECT value FROM json_each(?1))
  UNION ALL SELECT key FROM qops_dead WHERE id IN (SELECT value FROM json_each(?1)))
