SELECT i.id FROM unnest($1) AS i(id), qops.message_id_seq s
WHERE i.id BETWEEN 1 AND CASE WHEN s.is_called THEN s.last_value ELSE 0 END
  AND NOT EXISTS (SELECT 1 FROM qops.message m WHERE m.id = i.id) AND NOT EXISTS (SELECT 1 FROM qops.dead d WHERE d.id = i.id)
