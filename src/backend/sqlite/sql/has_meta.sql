-- Both in one statement: between two another process may make them.
SELECT count(*) FILTER (WHERE name='qops_meta'), count(*) FILTER (WHERE name='qops_queue') FROM sqlite_schema WHERE type='table'
