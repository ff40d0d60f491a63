SELECT qops.make_queue($1)
