-- _finding-throttling: Finding: clocks of a GPU were held down while it worked.
-- grain: one stage on one GPU
-- key: stage, device
-- params:
--   run VARCHAR: the run
--   span VARCHAR = NULL: name of a relation that holds _finding-span of the run already, in its place
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   finding: name of the rule, as in finding-rules
--   stage: the stage; NULL: all device work of a run without measured passes
--   device: GPU
--   subject: NULL
--   saving_ns: what could be saved over the measured passes
--   evidence: the numbers it follows from

-- Of samples in which the GPU was at work, or all where NVML does not tell that, in passes whose timeline is counted. Which GPU of NVML is which is known by UUIDs.
WITH mask AS (
    SELECT bit_or(1::BIGINT << r.bit_count) AS slow FROM _throttle_reason r WHERE r.is_slowdown
), same AS (
    SELECT DISTINCT d.device_id AS device, c.device_id, c.max_sm_clock_hz
    FROM device d JOIN capture_device c ON c.run_id = d.run_id AND replace(c.uuid, 'GPU-', '') = replace(d.uuid, 'GPU-', '')
    WHERE d.run_id = run AND d.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
), s AS (
    SELECT x.device, x.max_sm_clock_hz, d.sm_clock_hz, d.throttle_mask & mask.slow <> 0 AS is_slow
    FROM device_sample d JOIN same x ON x.device_id = d.device_id CROSS JOIN mask
    WHERE d.run_id = run AND d.throttle_mask IS NOT NULL AND coalesce(d.sm_ratio > 0, true)
        AND d.pass_id IN (SELECT c.pass_id FROM capture_source c JOIN _timeline(run, source := source) t ON t.source_id = c.captured_source_id WHERE c.run_id = run)
), g AS (
    SELECT s.device, s.max_sm_clock_hz, count(*) AS samples, count(*) FILTER (s.is_slow) AS slow_samples, avg(s.sm_clock_hz) FILTER (s.is_slow) AS clock_hz FROM s GROUP BY s.device, s.max_sm_clock_hz
)
SELECT 'throttling' AS finding, t.stage, t.device, NULL::VARCHAR AS subject, (t.busy_ns * (g.slow_samples / g.samples) * (1 - g.clock_hz / g.max_sm_clock_hz))::BIGINT AS saving_ns,
    format('clocks were held down in {:,} of {}, {:.0f} MHz on the mean of at most {:.0f} MHz; work took {}', g.slow_samples, _count_text(g.samples, 'sample', 'samples'), g.clock_hz / 1e6, g.max_sm_clock_hz / 1e6, _time_text(t.busy_ns)) AS evidence
FROM query(_given(span, '_finding_span', run, source)) t JOIN g ON g.device = t.device
WHERE g.slow_samples > 0 AND g.clock_hz < g.max_sm_clock_hz
