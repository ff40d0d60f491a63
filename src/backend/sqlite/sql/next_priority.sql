SELECT priority FROM qops_message WHERE queue_id=?1 AND state=0 AND priority<?2 ORDER BY priority DESC LIMIT 1
