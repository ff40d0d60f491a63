SELECT name FROM qops_queue ORDER BY name
