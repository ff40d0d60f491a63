SELECT r.one, r.why FROM (SELECT clock_timestamp() + $11 * interval '1 microsecond' AS at OFFSET 0) t,
  LATERAL qops.requeue($1, $2, $3, $4, $5, coalesce($6, t.at + $7 * interval '1 microsecond'), $8, $9, $10, t.at) r
