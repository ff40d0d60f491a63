SELECT id, fresh FROM qops.put($1, $2, $3, $4, $5, $6, $7, $8 * interval '1 microsecond', $9, $10 * interval '1 microsecond',
  $11::json, $12, $13)
