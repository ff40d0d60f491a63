SELECT EXISTS (SELECT 1 FROM qops.message WHERE queue_id = $1 AND state = 0)
  OR EXISTS (SELECT 1 FROM qops.message WHERE queue_id = $1 AND state = 1)
  OR EXISTS (SELECT 1 FROM qops.message WHERE queue_id = $1 AND state = 2)
  OR EXISTS (SELECT 1 FROM qops.dead WHERE queue_id = $1)
