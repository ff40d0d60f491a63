SELECT EXISTS(SELECT 1 FROM qops_message WHERE queue_id=?1 AND group_key=?2)
