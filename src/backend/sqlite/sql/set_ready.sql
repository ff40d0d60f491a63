UPDATE qops_message SET ready_at=?2 WHERE id=?1
