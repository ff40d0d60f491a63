-- Twice counts once. A message whose time to live has passed is not started.
UPDATE qops_message SET attempts=attempts+(started_at IS NULL), started_at=coalesce(started_at, ?3)
WHERE id=?1 AND lease_token=?2 AND lease_until>?3 AND (started_at IS NOT NULL OR expires_at IS NULL OR expires_at>?3)
