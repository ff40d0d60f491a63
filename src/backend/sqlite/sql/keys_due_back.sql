-- The same from the other end: due after ?3, before the key (?4, ?5).
SELECT ready_at, id FROM (SELECT ready_at, id FROM qops_message WHERE queue_id=?1 AND state=0 AND priority=?2
    AND ready_at=?4 AND ready_at>?3 AND id<?5 ORDER BY id DESC LIMIT ?6)
UNION ALL
SELECT ready_at, id FROM (SELECT ready_at, id FROM qops_message WHERE queue_id=?1 AND state=0 AND priority=?2
    AND ready_at<?4 AND ready_at>?3 ORDER BY ready_at DESC, id DESC LIMIT ?6)
ORDER BY 1 DESC, 2 DESC LIMIT ?6
