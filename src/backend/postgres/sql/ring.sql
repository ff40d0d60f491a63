SELECT qops.ring($1)
