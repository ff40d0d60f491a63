DELETE FROM qops_attempt WHERE message_id=?1 AND delivery<=(
  SELECT delivery FROM qops_attempt WHERE message_id=?1 ORDER BY delivery DESC LIMIT 1 OFFSET 200)
