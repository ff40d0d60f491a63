UPDATE qops_message SET lease_until=?4 WHERE id=?1 AND lease_token=?2 AND lease_until>?3
