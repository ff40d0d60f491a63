SELECT id FROM qops_message WHERE expires_at IS NOT NULL AND state<>1 AND expires_at<=?1 ORDER BY expires_at LIMIT ?2
