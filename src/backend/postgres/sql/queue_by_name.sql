SELECT id, ttl_us FROM qops.queue WHERE name = $1
