SELECT (SELECT min(seq) FROM qops_dead), (SELECT max(seq) FROM qops_dead)
