UPDATE qops_dedup SET message_id=?3 WHERE queue_id=?1 AND key=?2
