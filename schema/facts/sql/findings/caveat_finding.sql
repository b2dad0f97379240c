-- caveat_finding: What the finding rules could not judge in a run, and how to read its findings.
-- into: caveat
-- needs: device_time

WITH w AS ( -- kinds of timelines that have device work
    SELECT DISTINCT
        t.kind AS capture,
        t.is_counted
    FROM device_time d JOIN timeline t ON t.run_id = d.run_id AND t.source_id = d.source_id
    WHERE d.run_id = $run AND d.range_id IS NULL
), own AS (
    SELECT
        s.kind,
        sum(s.span_ns)::DOUBLE AS span_ns
    FROM finding_span s
    WHERE s.run_id = $run
    GROUP BY s.kind
), idle AS (
    SELECT
        i.kind,
        i.cause,
        sum(i.idle_ns)::DOUBLE AS ns
    FROM finding_idle i
    WHERE i.run_id = $run
    GROUP BY i.kind, i.cause
), gpu AS (
    SELECT
        t.kind,
        bool_or(d.sm_count IS NULL) AS is_small_unknown,
        bool_or(
            d.compute_capability IS NULL OR d.max_warp_per_sm_count IS NULL OR d.shared_per_sm_bytes IS NULL
        ) AS is_wave_unknown
    FROM device d JOIN timeline t ON t.run_id = d.run_id AND t.source_id = d.source_id
    WHERE d.run_id = $run
    GROUP BY t.kind
), lacking AS (
    SELECT
        t.kind,
        'kernels-without-grid' AS caveat,
        sum(k.launch_count)::BIGINT AS n
    FROM kernel_duration k JOIN timeline t ON t.run_id = k.run_id AND t.source_id = k.source_id
    WHERE k.run_id = $run AND k.grid_x IS NULL
    GROUP BY t.kind
    UNION ALL
    SELECT
        t.kind,
        'copies-without-memory',
        count(*)
    FROM memop m JOIN timeline t ON t.run_id = m.run_id AND t.source_id = m.source_id
    WHERE m.run_id = $run AND m.operation LIKE '%Host-to-Device%' AND m.src_memory IS NULL
    GROUP BY t.kind
), sampled AS (
    SELECT DISTINCT t.kind
    FROM device_sample s
    JOIN capture_source a ON a.run_id = s.run_id AND a.pass_id = s.pass_id
    JOIN capture_device c ON c.run_id = s.run_id AND c.device_id = s.device_id AND c.source_id = s.source_id
    JOIN device d
        ON d.run_id = s.run_id
        AND d.source_id = a.captured_source_id
        AND replace(d.uuid, 'GPU-', '') = replace(c.uuid, 'GPU-', '')
    JOIN timeline t ON t.run_id = d.run_id AND t.source_id = d.source_id
    WHERE s.run_id = $run AND s.throttle_mask IS NOT NULL
), staged AS ( -- of a process, loading the model hides what it does to stages
    SELECT
        o.tool,
        o.stage,
        o.overhead_ratio
    FROM stage_overhead o
    WHERE o.run_id = $run AND o.tool IN ({'callers'}) AND o.clock IS NOT NULL
    UNION ALL
    SELECT
        o.tool,
        NULL,
        o.overhead_ratio
    FROM process_overhead o
    WHERE o.run_id = $run
        AND o.tool IN ({'callers'})
        AND (o.overhead_ratio IS NOT NULL OR o.reason = 'noise')
        AND NOT EXISTS (
            SELECT 1
            FROM stage_overhead s
            WHERE s.run_id = $run AND s.tool = o.tool AND s.clock IS NOT NULL
        )
), slowed AS ( -- each kind by its own tool
    SELECT
        w.capture,
        max(s.overhead_ratio) AS ratio,
        arg_max(s.stage, s.overhead_ratio) AS stage,
        count(s.tool) > 0 AS is_compared
    FROM w LEFT JOIN staged s ON s.tool = w.capture OR w.capture NOT IN ({'callers'})
    GROUP BY w.capture
)
SELECT
    'finding' AS topic,
    CASE i.cause WHEN 'profiler' THEN 'idle-by-profiler' ELSE 'idle-before-unknown-launch' END AS kind,
    w.capture,
    w.is_counted,
    i.ns AS time_ns,
    o.span_ns AS of_time_ns
FROM w
JOIN own o ON o.kind = w.capture
JOIN idle i ON i.kind = w.capture AND i.cause IN ('profiler', 'unknown')
WHERE o.span_ns > 0 AND i.ns >= 0.01 * o.span_ns
UNION ALL BY NAME
SELECT 'finding' AS topic, 'rules-without-profiled-kernels' AS kind, w.capture, w.is_counted
FROM w
WHERE w.capture NOT IN (SELECT m.kind FROM ncu_match m WHERE m.run_id = $run AND m.timeline_name_id IS NOT NULL)
UNION ALL BY NAME
SELECT
    'finding' AS topic,
    CASE
        WHEN g.is_small_unknown IS DISTINCT FROM false THEN 'rules-without-sms'
        ELSE 'rules-without-sm-limits'
    END AS kind,
    w.capture,
    w.is_counted
FROM w LEFT JOIN gpu g ON g.kind = w.capture
WHERE (g.is_small_unknown OR g.is_wave_unknown) IS DISTINCT FROM false
UNION ALL BY NAME
SELECT
    'finding' AS topic,
    l.caveat AS kind,
    w.capture,
    w.is_counted,
    l.n AS item_count
FROM w JOIN lacking l ON l.kind = w.capture
UNION ALL BY NAME
SELECT
    'finding' AS topic,
    CASE
        WHEN EXISTS (
                SELECT 1
                FROM device_sample d
                WHERE d.run_id = $run AND d.throttle_mask IS NOT NULL
            )
            THEN 'clocks-of-other-gpus'
        ELSE 'clocks-not-sampled'
    END AS kind,
    w.capture,
    w.is_counted
FROM w
WHERE w.capture NOT IN (SELECT s.kind FROM sampled s)
UNION ALL BY NAME
SELECT 'finding' AS topic, 'savings-overlap' AS kind, w.capture, w.is_counted
FROM w
UNION ALL BY NAME
SELECT
    'finding' AS topic,
    CASE
        WHEN s.ratio > 0 THEN 'launches-slowed'
        WHEN s.is_compared THEN 'launches-slowed-in-noise'
        ELSE 'launches-slowed-unmeasured'
    END AS kind,
    w.capture,
    w.is_counted,
    CASE WHEN s.ratio > 0 THEN s.stage END AS subject,
    CASE WHEN s.ratio > 0 THEN s.ratio END AS ratio
FROM w
JOIN idle i ON i.kind = w.capture AND i.cause = 'launch-bound'
JOIN slowed s ON s.capture = w.capture
WHERE i.ns > 0
