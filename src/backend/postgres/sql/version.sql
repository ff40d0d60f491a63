SELECT version, min_client FROM qops.meta
