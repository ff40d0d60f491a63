-- Keys that are held for a message that is neither live nor dead.
SELECT count(*) FROM (SELECT 1 FROM qops_dedup d WHERE d.expires_at IS NULL
  AND NOT EXISTS(SELECT 1 FROM qops_message m WHERE m.id=d.message_id)
  AND NOT EXISTS(SELECT 1 FROM qops_dead e WHERE e.id=d.message_id) LIMIT 1000)
