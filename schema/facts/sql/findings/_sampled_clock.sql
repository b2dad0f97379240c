-- _sampled_clock: SM clocks of GPUs at work, as sampled while a kind of timeline was captured.
-- grain: one GPU, per kind of timeline
-- key: kind, device_id, max_clock_hz
-- needs: device_sample
-- columns:
--   kind VARCHAR: {timelines}
--   device_id INTEGER: GPU
--   max_clock_hz BIGINT: highest clock of its SMs
--   sample_count BIGINT: samples in which the GPU was busy, or all where NVML reports no utilization
--   clock_hz DOUBLE: mean clock of its SMs in them
--   slow_count BIGINT: those in which power or temperature lowered it
--   slow_clock_hz DOUBLE: mean clock in these

-- GPUs are matched by UUID.
SELECT
    x.kind,
    x.device_id,
    x.max_clock_hz,
    count(*) AS sample_count,
    avg(d.sm_clock_hz) AS clock_hz,
    count(*) FILTER (d.throttle_mask & mask.slow <> 0) AS slow_count,
    avg(d.sm_clock_hz) FILTER (d.throttle_mask & mask.slow <> 0) AS slow_clock_hz
FROM device_sample d
CROSS JOIN (
    SELECT bit_or(1::BIGINT << r.bit_count) AS slow
    FROM _throttle_reason r
    WHERE r.is_slowdown
) mask
JOIN (
    SELECT DISTINCT
        t.kind,
        d.device_id,
        c.source_id AS sampled_source_id,
        c.device_id AS sampled_id,
        c.max_sm_clock_hz AS max_clock_hz
    FROM device d
    JOIN timeline t ON t.run_id = d.run_id AND t.source_id = d.source_id
    JOIN capture_device c ON c.run_id = d.run_id AND replace(c.uuid, 'GPU-', '') = replace(d.uuid, 'GPU-', '')
    WHERE d.run_id = $run
) x ON x.sampled_source_id = d.source_id AND x.sampled_id = d.device_id
WHERE d.run_id = $run
    AND d.throttle_mask IS NOT NULL
    AND coalesce(d.sm_ratio > 0, true)
    AND (x.kind, d.pass_id) IN (
        SELECT (t.kind, c.pass_id)
        FROM capture_source c
        JOIN timeline t ON t.run_id = c.run_id AND t.source_id = c.captured_source_id
        WHERE c.run_id = $run
    )
GROUP BY x.kind, x.device_id, x.max_clock_hz
