SELECT qops.estimate($1, $2)
