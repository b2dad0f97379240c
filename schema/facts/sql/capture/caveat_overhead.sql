-- caveat_overhead: Caveats about recordings of prof capture: slowed by profiling, or by the state of the GPUs.
-- into: caveat
-- needs: capture

WITH alone AS (
    SELECT
        count(*) AS passes,
        count(*) FILTER (p.is_measured) AS measured
    FROM (
        SELECT bool_and(p.status = 'ok' AND coalesce(p.workload_ns > 0, false)) AS is_measured
        FROM capture_pass p
        WHERE p.run_id = $run AND p.tool = 'none'
        GROUP BY p.repeat_id
    ) p
), staged AS ( -- what is measured is in stages: in a whole process, loading the model hides it
    SELECT DISTINCT o.tool, o.mode
    FROM stage_overhead o
    WHERE o.run_id = $run AND o.tool <> 'none' AND o.clock IS NOT NULL
), process AS (
    -- Nsight Compute replays kernels one by one: its passes take long by design, and nothing but what it measures of kernels is taken from
    -- them
    SELECT
        o.tool,
        o.mode,
        o.overhead_ratio,
        o.reason
    FROM process_overhead o
    WHERE o.run_id = $run
        AND o.tool <> 'ncu'
        AND NOT EXISTS (SELECT 1 FROM staged s WHERE s.tool = o.tool AND s.mode = o.mode)
), used AS ( -- the GPUs of the workload, by the UUIDs of those that its kernels ran on
    SELECT DISTINCT c.device_id
    FROM (SELECT DISTINCT k.source_id, k.device_id FROM kernel_duration k WHERE k.run_id = $run) k
    JOIN device d ON d.run_id = $run AND d.source_id = k.source_id AND d.device_id = k.device_id
    JOIN capture_device c ON c.run_id = d.run_id AND replace(c.uuid, 'GPU-', '') = replace(d.uuid, 'GPU-', '')
), s AS (
    SELECT
        d.device_id,
        d.throttle_mask,
        d.other_process_count,
        d.sm_ratio,
        count(d.sm_ratio) OVER (PARTITION BY d.device_id, d.pass_id) = 0 AS is_silent
    FROM device_sample d JOIN capture_pass p ON p.run_id = d.run_id AND p.pass_id = d.pass_id
    WHERE d.run_id = $run
        AND p.tool IN ('nsys', 'prof', 'torch')
        AND (d.device_id IN (SELECT u.device_id FROM used u) OR NOT EXISTS (SELECT 1 FROM used))
), v AS ( -- where a pass does not tell when a GPU was at work, all its samples count
    SELECT
        s.device_id,
        s.throttle_mask,
        s.other_process_count,
        bool_or(s.is_silent) OVER (PARTITION BY s.device_id) AS is_silent,
        bool_or(s.is_silent) OVER (PARTITION BY s.device_id) OR coalesce(s.sm_ratio > 0, false) AS is_busy
    FROM s
), mask AS (
    SELECT bit_or(1::BIGINT << r.bit_count) AS slow
    FROM _throttle_reason r
    WHERE r.is_slowdown
), gpu AS ( -- others that computed there count whatever the utilisation, for short kernels may fall between samples
    SELECT
        v.device_id,
        any_value(v.is_silent) AS is_silent,
        count(*) AS samples,
        count(*) FILTER (v.is_busy) AS busy,
        count(*) FILTER (v.is_busy AND v.throttle_mask & m.slow <> 0) AS slowed,
        bit_or(v.throttle_mask & m.slow) FILTER (v.is_busy) AS reasons,
        count(*) FILTER (v.other_process_count > 0) AS shared
    FROM v CROSS JOIN mask m
    GROUP BY v.device_id
    HAVING count(*) FILTER (v.is_busy) > 0 OR EXISTS (SELECT 1 FROM used)
)
SELECT
    'overhead' AS topic,
    CASE WHEN a.passes > 0 THEN 'overhead-of-failed-baseline' ELSE 'overhead-without-baseline' END AS kind,
    true AS is_counted
FROM alone a
WHERE a.measured = 0
UNION ALL BY NAME
SELECT 'overhead' AS topic, 'overhead-of-one-recording' AS kind, true AS is_counted
WHERE EXISTS (SELECT 1 FROM process p WHERE p.reason IN ('cold', 'one-recording'))
    AND NOT EXISTS (SELECT 1 FROM process p WHERE p.overhead_ratio IS NOT NULL OR p.reason = 'noise')
    AND NOT EXISTS (SELECT 1 FROM staged)
UNION ALL BY NAME
SELECT
    'overhead' AS topic,
    CASE WHEN p.overhead_ratio > 0 THEN 'slowed-by-profiling' ELSE 'faster-under-profiling' END AS kind,
    true AS is_counted,
    p.mode AS subject,
    p.tool AS object,
    p.overhead_ratio AS ratio
FROM process p
WHERE p.overhead_ratio > {{.MuchOverhead}} OR p.overhead_ratio < -0.05
UNION ALL BY NAME
SELECT
    'overhead' AS topic,
    'stage-slowed-by-profiling' AS kind,
    true AS is_counted,
    o.stage,
    o.mode AS subject,
    o.tool AS object,
    o.profiled_recording_count AS item_count,
    o.alone_recording_count AS of_count,
    o.profiled_median_ns AS time_ns,
    o.alone_median_ns AS of_time_ns,
    o.overhead_ratio AS ratio
FROM stage_overhead o
WHERE o.run_id = $run AND o.overhead_ratio > {{.MuchOverhead}}
UNION ALL BY NAME
SELECT
    'overhead' AS topic,
    'stage-faster-under-profiling' AS kind,
    true AS is_counted,
    o.stage,
    o.mode AS subject,
    o.tool AS object,
    o.overhead_ratio AS ratio
FROM stage_overhead o
WHERE o.run_id = $run AND o.overhead_ratio < -0.05 AND o.noise_ratio IS NOT NULL
UNION ALL BY NAME
SELECT
    'overhead' AS topic,
    'stage-not-compared' AS kind,
    true AS is_counted,
    o.stage,
    o.mode AS subject,
    o.tool AS object,
    o.reason AS detail
FROM stage_overhead o
WHERE o.run_id = $run AND o.reason <> 'noise'
UNION ALL BY NAME
SELECT 'samples' AS topic, 'no-samples' AS kind, true AS is_counted
WHERE NOT EXISTS (SELECT 1 FROM device_sample d WHERE d.run_id = $run)
UNION ALL BY NAME
SELECT
    'throttle' AS topic,
    CASE WHEN g.is_silent THEN 'gpu-throttled-maybe-idle' ELSE 'gpu-throttled' END AS kind,
    true AS is_counted,
    g.device_id::VARCHAR AS subject,
    r.reason AS object,
    g.slowed AS item_count,
    g.busy AS of_count
FROM gpu g JOIN _throttle_reason r ON g.reasons & (1::BIGINT << r.bit_count) <> 0
WHERE g.slowed > 0
UNION ALL BY NAME
SELECT
    'throttle' AS topic,
    'gpu-shared' AS kind,
    true AS is_counted,
    g.device_id::VARCHAR AS subject,
    g.shared AS item_count,
    g.samples AS of_count
FROM gpu g
WHERE g.shared > 0
