INSERT INTO qops_queue(name, created_at) VALUES(?1, ?2)
