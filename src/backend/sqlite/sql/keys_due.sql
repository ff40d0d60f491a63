-- One priority: not due after ?3, beyond the key (?4, ?5). Two seeks, as SQLite seeks by the first column of a key alone:
-- of a million messages that are due at one instant it would read all before the key again for each page.
SELECT ready_at, id FROM (SELECT ready_at, id FROM qops_message WHERE queue_id=?1 AND state=0 AND priority=?2
    AND ready_at=?4 AND ready_at<=?3 AND id>?5 ORDER BY id LIMIT ?6)
UNION ALL
SELECT ready_at, id FROM (SELECT ready_at, id FROM qops_message WHERE queue_id=?1 AND state=0 AND priority=?2
    AND ready_at>?4 AND ready_at<=?3 ORDER BY ready_at, id LIMIT ?6)
ORDER BY 1, 2 LIMIT ?6
