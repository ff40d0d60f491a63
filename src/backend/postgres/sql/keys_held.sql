SELECT k.place, d.message_id FROM unnest($1, $2) WITH ORDINALITY AS k(queue_id, key, place)
JOIN qops.dedup d ON d.queue_id = k.queue_id AND d.key = k.key
