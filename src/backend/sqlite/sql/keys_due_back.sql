SELECT ready_at, id FROM qops_message WHERE queue_id=?1 AND state=0 AND priority=?2 AND ready_at>?3 AND ready_at<=?4
  AND (ready_at, id)<(?5, ?6) ORDER BY ready_at DESC, id DESC LIMIT ?7
