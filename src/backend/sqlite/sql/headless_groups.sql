SELECT count(*) FROM (SELECT 1 FROM qops_message b WHERE b.state=2 AND NOT EXISTS(
  SELECT 1 FROM qops_message h WHERE h.queue_id=b.queue_id AND h.group_key=b.group_key AND h.state<2) LIMIT 1000)
