DELETE FROM qops_attempt WHERE message_id=?1
