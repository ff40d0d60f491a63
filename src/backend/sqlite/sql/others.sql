-- Whatever stands in the file and is not ours.
SELECT count(*) FROM sqlite_schema WHERE name NOT GLOB 'qops_*' AND name NOT GLOB 'sqlite_*'
