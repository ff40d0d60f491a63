SELECT 'qops_' || 'qops.message'::regclass::oid
