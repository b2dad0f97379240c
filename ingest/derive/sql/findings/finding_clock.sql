-- finding_clock: Work at clocks that power or temperature limits lowered.
-- into: finding
-- needs: device_time device_sample

WITH clock AS ( -- samples in which the GPU was busy, or all where NVML reports no utilization, in passes with a timeline of the kind; GPUs are matched by UUID
    SELECT x.kind, x.device_id, x.max_clock_hz, count(*) AS sample_count, count(*) FILTER (d.throttle_mask & mask.slow <> 0) AS slow_count, avg(d.sm_clock_hz) FILTER (d.throttle_mask & mask.slow <> 0) AS clock_hz
    FROM device_sample d CROSS JOIN (SELECT bit_or(1::BIGINT << r.bit_count) AS slow FROM _throttle_reason r WHERE r.is_slowdown) mask
    JOIN (
        SELECT DISTINCT t.kind, d.device_id, c.device_id AS sampled_id, c.max_sm_clock_hz AS max_clock_hz
        FROM device d JOIN timeline t ON t.run_id = d.run_id AND t.source_id = d.source_id JOIN capture_device c ON c.run_id = d.run_id AND replace(c.uuid, 'GPU-', '') = replace(d.uuid, 'GPU-', '')
        WHERE d.run_id = $run
    ) x ON x.sampled_id = d.device_id
    WHERE d.run_id = $run AND d.throttle_mask IS NOT NULL AND coalesce(d.sm_ratio > 0, true)
        AND (x.kind, d.pass_id) IN (SELECT (t.kind, c.pass_id) FROM capture_source c JOIN timeline t ON t.run_id = c.run_id AND t.source_id = c.captured_source_id WHERE c.run_id = $run)
    GROUP BY x.kind, x.device_id, x.max_clock_hz
)
SELECT s.kind, s.is_counted, 'throttling' AS finding_id, s.stage, s.device_id, NULL AS subject, (s.busy_ns * (c.slow_count / c.sample_count) * (1 - c.clock_hz / c.max_clock_hz))::BIGINT AS saving_ns, s.pass_count, s.span_ns,
    to_json({'slow_count': c.slow_count, 'sample_count': c.sample_count, 'clock_hz': c.clock_hz, 'max_clock_hz': c.max_clock_hz, 'work_ns': s.busy_ns})::VARCHAR AS evidence
FROM finding_span s JOIN clock c ON s.kind = c.kind AND s.device_id = c.device_id
WHERE s.run_id = $run AND s.span_ns > 0 AND c.slow_count > 0 AND c.clock_hz < c.max_clock_hz AND saving_ns > 0
