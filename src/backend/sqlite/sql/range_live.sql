SELECT (SELECT min(id) FROM qops_message), (SELECT max(id) FROM qops_message)
