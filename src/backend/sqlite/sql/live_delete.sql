DELETE FROM qops_message WHERE id=?1
