-- finding_clock: Work at clocks that power or temperature limits lowered.
-- into: finding
-- needs: device_time _sampled_clock

SELECT
    s.kind,
    s.is_counted,
    'throttling' AS finding_id,
    s.stage,
    s.device_id,
    NULL AS subject,
    (s.busy_ns * (c.slow_count / c.sample_count) * (1 - c.slow_clock_hz / c.max_clock_hz))::BIGINT AS saving_ns,
    s.pass_count,
    s.span_ns,
    to_json({
        'slow_count': c.slow_count,
        'sample_count': c.sample_count,
        'clock_hz': c.slow_clock_hz,
        'max_clock_hz': c.max_clock_hz,
        'work_ns': s.busy_ns
    })::VARCHAR AS evidence
FROM finding_span s JOIN _sampled_clock c ON s.kind = c.kind AND s.device_id = c.device_id
WHERE s.run_id = $run AND s.span_ns > 0 AND c.slow_count > 0 AND c.slow_clock_hz < c.max_clock_hz AND saving_ns > 0
