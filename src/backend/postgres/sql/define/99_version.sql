INSERT INTO qops.meta(version, min_client) VALUES (1, 1);
