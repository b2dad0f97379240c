-- caveat_pass: Caveats about passes: those excluded as warm-up, cold or of other work and why, stages whose passes differ much, and ranges
--     without an end.
-- into: caveat
-- needs: nvtx_range

WITH p AS (
    SELECT
        t.kind,
        p.is_counted,
        p.source_id,
        p.pid,
        p.stage,
        p.range_id,
        p.repeat_id,
        p.pass_id,
        p.is_warmup,
        p.is_ruled,
        p.is_cold,
        p.is_unlike,
        p.basis IS NOT NULL AS has_tokens,
        CASE
            WHEN bool_or(p.gpu_span_ns IS NOT NULL) OVER (PARTITION BY t.kind, p.stage) THEN p.gpu_span_ns
            ELSE p.cpu_ns
        END AS ns,
        p.start_ns,
        p.end_ns
    FROM stage_pass p JOIN timeline t ON t.run_id = p.run_id AND t.source_id = p.source_id
    WHERE p.run_id = $run
), whole AS ( -- what processes do together is one pass, which lasts until the last of them is done
    SELECT
        p.kind,
        p.is_counted,
        p.stage,
        arg_max(p.range_id, (p.ns, -p.range_id)) FILTER (p.ns > 0) AS range_id,
        max(p.ns) AS ns
    FROM p
    WHERE NOT p.is_warmup
    GROUP BY p.kind, p.is_counted, p.stage, p.repeat_id, p.pass_id
    HAVING max(p.ns) > 0
), worked AS ( -- from when to when each process runs passes on each GPU
    SELECT
        p.kind,
        p.is_counted,
        p.source_id,
        d.device_id,
        p.pid,
        min(p.start_ns) AS start_ns,
        max(p.end_ns) AS end_ns
    FROM p JOIN range_device d ON d.run_id = $run AND d.range_id = p.range_id
    GROUP BY p.kind, p.is_counted, p.source_id, d.device_id, p.pid
), crowd AS ( -- the processes of each GPU that run passes while another does
    SELECT
        w.kind,
        w.is_counted,
        w.device_id,
        count(DISTINCT w.pid) AS n
    FROM worked w
    JOIN worked x
        ON x.source_id = w.source_id
        AND x.device_id = w.device_id
        AND x.pid <> w.pid
        AND x.start_ns < w.end_ns
        AND w.start_ns < x.end_ns
    GROUP BY w.kind, w.is_counted, w.source_id, w.device_id
), warm AS (
    SELECT
        p.kind,
        p.is_counted,
        count(DISTINCT (p.stage, p.repeat_id, p.pass_id)) AS n,
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
        count(DISTINCT (p.repeat_id, p.pass_id)) AS n,
        max(c.time_ns)::DOUBLE AS time_ns,
        coalesce(
            (SELECT median(w.ns) FROM whole w WHERE w.kind = p.kind AND w.stage = p.stage),
            arg_max(c.steady_ns, (c.time_ns, c.range_id))
        ) AS steady_ns,
        arg_max(c.range_id, (c.time_ns, c.range_id)) AS range_id
    FROM p JOIN cold_pass c ON c.run_id = $run AND c.range_id = p.range_id
    GROUP BY p.kind, p.is_counted, p.stage
), slow AS ( -- the longest pass of stages whose passes differ much
    SELECT
        w.kind,
        w.is_counted,
        w.stage,
        arg_max(w.range_id, (w.ns, -w.range_id)) AS range_id,
        min(w.ns)::DOUBLE AS least_ns,
        median(w.ns) AS median_ns,
        max(w.ns)::DOUBLE AS most_ns
    FROM whole w
    GROUP BY w.kind, w.is_counted, w.stage
    HAVING max(w.ns) > 2 * min(w.ns)
), idle AS (
    SELECT
        i.range_id,
        i.device_id,
        s.kind AS cause,
        sum(i.ns)::BIGINT AS ns
    FROM idle_part i JOIN stage_part s ON s.part = i.part
    WHERE i.run_id = $run AND s.is_idle
    GROUP BY i.range_id, i.device_id, s.kind
), spent AS ( -- by each pass of these stages, on the GPU that has most of it
    SELECT
        s.kind,
        s.stage,
        p.range_id,
        c.cause,
        max(CASE c.cause WHEN 'busy' THEN d.busy_ns ELSE coalesce(i.ns, 0) END) AS ns,
        arg_max(d.device_id, (CASE c.cause WHEN 'busy' THEN d.busy_ns ELSE coalesce(i.ns, 0) END, -d.device_id)) AS device_id
    FROM slow s
    JOIN p ON p.kind = s.kind AND p.stage = s.stage AND NOT p.is_warmup AND p.ns > 0
    JOIN range_device d ON d.run_id = $run AND d.range_id = p.range_id
    CROSS JOIN (
        SELECT DISTINCT s.kind AS cause FROM stage_part s WHERE s.is_idle
        UNION ALL
        SELECT 'busy'
    ) c
    LEFT JOIN idle i ON i.range_id = p.range_id AND i.device_id = d.device_id AND i.cause = c.cause
    GROUP BY s.kind, s.stage, p.range_id, c.cause
), more AS ( -- what the longest one has more of than the median one: half of the difference, or it says little
    SELECT
        s.kind,
        s.is_counted,
        s.stage,
        s.range_id,
        any_value(x.device_id) FILTER (x.range_id = s.range_id) AS device_id,
        x.cause,
        max(x.ns) FILTER (x.range_id = s.range_id) AS ns,
        median(x.ns) AS median_ns
    FROM slow s JOIN spent x ON x.kind = s.kind AND x.stage = s.stage
    GROUP BY s.kind, s.is_counted, s.stage, s.range_id, s.most_ns, s.median_ns, x.cause
    HAVING max(x.ns) FILTER (x.range_id = s.range_id) - median(x.ns) >= 0.5 * (s.most_ns - s.median_ns)
    QUALIFY row_number() OVER (
        PARTITION BY s.kind, s.stage
        ORDER BY max(x.ns) FILTER (x.range_id = s.range_id) - median(x.ns) DESC, x.cause
    ) = 1
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
UNION ALL BY NAME
SELECT
    'pass' AS topic,
    'processes-share-gpu' AS kind,
    c.kind AS capture,
    c.is_counted,
    max(c.n) AS item_count,
    count(DISTINCT c.device_id) AS of_count
FROM crowd c
GROUP BY c.kind, c.is_counted
UNION ALL BY NAME -- the one that is furthest from the others
SELECT
    'pass' AS topic,
    'other-work' AS kind,
    p.kind AS capture,
    p.is_counted,
    p.stage,
    u.measure AS subject,
    count(DISTINCT (p.repeat_id, p.pass_id)) AS item_count,
    arg_max(round(u.usual_count)::BIGINT, (abs(ln(u.work_count / u.usual_count)), -p.range_id)) AS of_count,
    arg_max(u.work_count / u.usual_count, (abs(ln(u.work_count / u.usual_count)), -p.range_id)) AS ratio
FROM p JOIN unlike_pass u ON u.run_id = $run AND u.range_id = p.range_id
GROUP BY p.kind, p.is_counted, p.stage, u.measure
UNION ALL BY NAME
SELECT
    'pass' AS topic,
    'unlike-passes' AS kind,
    s.kind AS capture,
    s.is_counted,
    s.stage,
    '' AS detail,
    s.least_ns AS time_ns,
    s.median_ns AS of_time_ns,
    s.most_ns / s.least_ns AS ratio
FROM slow s
UNION ALL BY NAME
SELECT
    'pass' AS topic,
    'unlike-passes' AS kind,
    m.kind AS capture,
    m.is_counted,
    m.stage,
    m.cause AS subject,
    'time' AS detail,
    s.pass_id AS item_count,
    CASE WHEN s.device_count > 1 THEN m.device_id::VARCHAR END AS object,
    m.ns::DOUBLE AS time_ns,
    m.median_ns AS of_time_ns
FROM more m JOIN stage_pass s ON s.run_id = $run AND s.range_id = m.range_id
UNION ALL BY NAME -- its longest call
SELECT
    'pass' AS topic,
    'unlike-passes' AS kind,
    m.kind AS capture,
    m.is_counted,
    m.stage,
    arg_max(n.name, (a.duration_ns, -a.start_ns, n.name)) AS subject,
    'call' AS detail,
    max(a.duration_ns)::DOUBLE AS time_ns
FROM more m
JOIN stage_pass s ON s.run_id = $run AND s.range_id = m.range_id
JOIN api_call a
    ON a.run_id = $run
    AND a.source_id = s.source_id
    AND a.pid = s.pid
    AND a.start_ns >= s.start_ns
    AND a.start_ns < s.end_ns
JOIN api_name n ON n.run_id = $run AND n.api_name_id = a.api_name_id
WHERE m.cause IN ('call', 'wait')
GROUP BY m.kind, m.is_counted, m.stage
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
