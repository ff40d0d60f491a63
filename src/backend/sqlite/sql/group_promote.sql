-- The next member goes on, if the group has no head.
UPDATE qops_message SET state=0 WHERE id=(
  SELECT id FROM qops_message WHERE queue_id=?1 AND group_key=?2 AND state=2 ORDER BY id LIMIT 1)
  AND NOT EXISTS(SELECT 1 FROM qops_message WHERE queue_id=?1 AND group_key=?2 AND state<2)
