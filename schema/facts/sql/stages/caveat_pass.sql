-- caveat_pass: Caveats about passes: those excluded as warm-up, cold or of other work and why, stages whose passes differ much, and ranges
--     without an end.
-- into: caveat
-- needs: nvtx_range

WITH p AS (
    SELECT
        t.kind,
        p.is_counted,
        p.stage,
        p.range_id,
        p.is_warmup,
        p.is_ruled,
        p.is_cold,
        p.is_unlike,
        p.basis IS NOT NULL AS has_tokens,
        CASE
            WHEN bool_or(p.gpu_span_ns IS NOT NULL) OVER (PARTITION BY t.kind, p.stage) THEN p.gpu_span_ns
            ELSE p.cpu_ns
        END AS ns,
        p.start_ns
    FROM stage_pass p JOIN timeline t ON t.run_id = p.run_id AND t.source_id = p.source_id
    WHERE p.run_id = $run
), warm AS (
    SELECT
        p.kind,
        p.is_counted,
        count(*) AS n,
        bool_and(p.is_ruled) AS is_ruled
    FROM p
    WHERE p.is_warmup AND NOT p.is_cold AND NOT p.is_unlike
    GROUP BY p.kind, p.is_counted
), said AS (
    SELECT
        x.kind,
        max(x.listed) AS listed,
        max(x.first) AS first
    FROM (
        SELECT
            e.kind,
            CASE WHEN max(e.back_count) > 0 THEN count(*) FILTER (NOT e.is_warmup) END AS listed,
            max(e.warmup_count) AS first
        FROM workload_entry e
        WHERE e.run_id = $run
        GROUP BY e.kind, e.node_rank, e.process_id
    ) x
    GROUP BY x.kind
), cold AS ( -- the longest cold pass of each stage
    SELECT
        p.kind,
        p.is_counted,
        p.stage,
        count(*) AS n,
        max(c.time_ns)::DOUBLE AS time_ns,
        arg_max(c.steady_ns, (c.time_ns, c.range_id)) AS steady_ns,
        arg_max(c.range_id, (c.time_ns, c.range_id)) AS range_id
    FROM p JOIN cold_pass c ON c.run_id = $run AND c.range_id = p.range_id
    GROUP BY p.kind, p.is_counted, p.stage
)
SELECT
    'pass' AS topic,
    'cold-passes' AS kind,
    c.kind AS capture,
    c.is_counted,
    c.stage,
    '' AS subject,
    c.n AS item_count,
    c.time_ns,
    c.steady_ns AS of_time_ns
FROM cold c
UNION ALL BY NAME -- what it spent on what only the first passes need
SELECT
    'pass' AS topic,
    'cold-passes' AS kind,
    c.kind AS capture,
    c.is_counted,
    c.stage,
    s.kind AS subject,
    c.n AS item_count,
    s.time_ns::DOUBLE AS time_ns
FROM cold c JOIN cold_sign s ON s.run_id = $run AND s.range_id = c.range_id
UNION ALL BY NAME
SELECT
    'pass' AS topic,
    'warm-up' AS kind,
    w.kind AS capture,
    w.is_counted,
    x.detail,
    w.n AS item_count,
    x.of_count
FROM warm w
LEFT JOIN said s ON s.kind = w.kind AND NOT w.is_ruled
CROSS JOIN LATERAL (
    SELECT
        'listed' AS detail,
        s.listed AS of_count
    UNION ALL
    SELECT 'marked', s.first
) x
WHERE x.of_count > 0 OR x.detail = 'listed' AND coalesce(s.listed, s.first, 0) = 0
UNION ALL BY NAME -- the one that is furthest from the others
SELECT
    'pass' AS topic,
    'other-work' AS kind,
    p.kind AS capture,
    p.is_counted,
    p.stage,
    u.measure AS subject,
    count(*) AS item_count,
    arg_max(round(u.usual_count)::BIGINT, (abs(ln(u.work_count / u.usual_count)), -p.range_id)) AS of_count,
    arg_max(u.work_count / u.usual_count, (abs(ln(u.work_count / u.usual_count)), -p.range_id)) AS ratio
FROM p JOIN unlike_pass u ON u.run_id = $run AND u.range_id = p.range_id
GROUP BY p.kind, p.is_counted, p.stage, u.measure
UNION ALL BY NAME
SELECT
    'pass' AS topic,
    'unlike-passes' AS kind,
    p.kind AS capture,
    p.is_counted,
    p.stage,
    min(p.ns)::DOUBLE AS time_ns,
    median(p.ns) AS of_time_ns,
    max(p.ns) / min(p.ns) AS ratio
FROM p
WHERE NOT p.is_warmup AND p.ns > 0
GROUP BY p.kind, p.is_counted, p.stage
HAVING max(p.ns) > 2 * min(p.ns)
UNION ALL BY NAME
SELECT
    'pass' AS topic,
    'shared-tokens-unknown' AS kind,
    s.kind AS capture,
    bool_or(p.is_counted) AS is_counted,
    s.stage,
    s.process_count AS item_count
FROM stage_share s JOIN p ON p.kind = s.kind AND p.stage = s.stage
WHERE s.run_id = $run AND s.is_shared IS NULL
GROUP BY s.kind, s.stage, s.process_count
HAVING bool_or(p.has_tokens)
UNION ALL BY NAME
SELECT
    'range' AS topic,
    'endless-ranges' AS kind,
    t.kind AS capture,
    t.is_counted,
    count(*) AS item_count
FROM nvtx_range r JOIN timeline t ON t.run_id = r.run_id AND t.source_id = r.source_id
WHERE r.run_id = $run AND r.duration_ns IS NULL
GROUP BY t.kind, t.is_counted
