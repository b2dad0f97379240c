-- time_category: Where the time of a stage's measured passes goes on a GPU: idle time by cause, kernels by family, and copies. Categories
--     add up to the passes' GPU spans.
-- grain: one category of one stage on one GPU, per timeline kind
-- key: kind, stage, device_id, category_kind, category
-- needs: device_time
-- columns:
--   kind VARCHAR: {timelines}
--   is_counted BOOLEAN: as in timeline
--   stage VARCHAR: the stage; NULL: all device work of a timeline without measured passes
--   device_id INTEGER: GPU
--   category VARCHAR: the category, as in the query time-breakdown
--   category_kind VARCHAR: idle, kernels, copies or other
--   total_ns BIGINT: GPU time of the category; concurrent kernels share the time in which kernels ran in proportion to their durations
--   launch_count BIGINT: executions; NULL for idle and other
--   sum_ns BIGINT: sum of the durations; NULL for idle and other

WITH s AS (
    SELECT
        s.kind,
        s.is_counted,
        s.stage,
        s.device_id,
        s.kernel_ns,
        s.graph_ns,
        s.copy_ns,
        s.other_ns
    FROM finding_span s
    WHERE s.run_id = $run
), c AS (
    SELECT
        i.kind,
        i.is_counted,
        i.stage,
        i.device_id,
        i.cause AS category,
        'idle' AS category_kind,
        i.idle_ns AS ns
    FROM finding_idle i
    WHERE i.run_id = $run
    UNION ALL
    SELECT s.kind, s.is_counted, s.stage, s.device_id, '(graph replays)', 'kernels', s.graph_ns
    FROM s
    UNION ALL
    SELECT s.kind, s.is_counted, s.stage, s.device_id, '(copies and fills)', 'copies', s.copy_ns
    FROM s
    UNION ALL
    SELECT s.kind, s.is_counted, s.stage, s.device_id, '(work of others)', 'other', s.other_ns
    FROM s
), place AS ( -- a launch that is in two passes counts in both, as in their times
    SELECT
        c.range_context_id,
        p.stage,
        count(*) AS passes
    FROM _finding_pass p JOIN range_context c ON c.run_id = $run AND c.range_id = p.range_id
    GROUP BY c.range_context_id, p.stage
), work AS (
    SELECT
        k.source_id,
        k.device_id,
        k.range_context_id,
        k.kernel_name_id,
        NULL AS category,
        k.launch_count,
        k.sum_ns
    FROM _kernel_sum k
    UNION ALL
    SELECT
        m.source_id,
        m.device_id,
        m.range_context_id,
        NULL,
        '(copies and fills)',
        1,
        m.duration_ns
    FROM memop m
    WHERE m.run_id = $run
    UNION ALL
    SELECT g.source_id, g.device_id, g.range_context_id, NULL, '(graph replays)', 1, g.duration_ns
    FROM graph_launch g
    WHERE g.run_id = $run AND g.mode = 'graph'
), ran AS (
    SELECT
        t.kind,
        p.stage,
        w.device_id,
        w.kernel_name_id,
        w.category,
        sum(w.launch_count * coalesce(p.passes, 1))::BIGINT AS launch_count,
        sum(w.sum_ns * coalesce(p.passes, 1))::BIGINT AS sum_ns
    FROM work w
    JOIN _finding_timeline t ON t.source_id = w.source_id
    LEFT JOIN place p ON p.range_context_id = w.range_context_id
    WHERE p.passes > 0 OR NOT t.is_staged
    GROUP BY t.kind, p.stage, w.device_id, w.kernel_name_id, w.category
), family AS (
    SELECT
        r.kind,
        r.stage,
        r.device_id,
        coalesce(c.family, n.name) AS category,
        sum(r.launch_count)::BIGINT AS launch_count,
        sum(r.sum_ns)::BIGINT AS sum_ns
    FROM ran r
    JOIN kernel_name n ON n.run_id = $run AND n.kernel_name_id = r.kernel_name_id
    LEFT JOIN kernel_class c ON c.run_id = n.run_id AND c.kernel_name_id = n.kernel_name_id
    GROUP BY r.kind, r.stage, r.device_id, coalesce(c.family, n.name)
), upto AS ( -- of the time in which kernels ran each has what lies between two shares of it, so that all add up to it in whole nanoseconds
    SELECT
        f.kind,
        f.stage,
        f.device_id,
        f.category,
        f.launch_count,
        f.sum_ns,
        sum(f.sum_ns) OVER (of ORDER BY f.category) AS upto_ns,
        sum(f.sum_ns) OVER of AS all_ns
    FROM family f
    WINDOW of AS (PARTITION BY f.kind, f.stage, f.device_id)
)
SELECT
    u.kind,
    s.is_counted,
    u.stage,
    u.device_id,
    u.category,
    'kernels' AS category_kind,
    coalesce(
        u.upto_ns * s.kernel_ns // u.all_ns - (u.upto_ns - u.sum_ns) * s.kernel_ns // u.all_ns,
        0
    )::BIGINT AS total_ns,
    u.launch_count,
    u.sum_ns
FROM upto u
JOIN s ON s.kind = u.kind AND s.stage IS NOT DISTINCT FROM u.stage AND s.device_id = u.device_id
UNION ALL
SELECT
    c.kind,
    c.is_counted,
    c.stage,
    c.device_id,
    c.category,
    c.category_kind,
    c.ns,
    r.launch_count,
    r.sum_ns
FROM c
LEFT JOIN ran r
    ON r.kind = c.kind
    AND r.stage IS NOT DISTINCT FROM c.stage
    AND r.device_id = c.device_id
    AND r.category = c.category
WHERE c.ns > 0 OR r.launch_count > 0
