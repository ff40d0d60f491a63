SELECT version, min_client FROM qops_meta
