-- caveat_workload: Caveats about the workload's facts: where they match the passes of the timeline not at all, or only under an assumption.
-- into: caveat
-- needs: workload

WITH way AS (
    SELECT DISTINCT t.kind, t.is_counted
    FROM timeline t
    WHERE t.run_id = $run
), p AS (
    SELECT
        t.kind,
        h.node_rank,
        p.stage,
        p.range_id,
        p.source_id,
        p.pid,
        p.is_warmup,
        p.is_ruled,
        p.basis,
        p.step_count
    FROM stage_pass p
    JOIN timeline t ON t.run_id = p.run_id AND t.source_id = p.source_id
    LEFT JOIN source_host h ON h.run_id = t.run_id AND h.source_id = t.source_id
    WHERE p.run_id = $run AND p.stage IN ('prefill', 'decode')
), said AS (
    SELECT
        e.kind,
        e.is_counted,
        count(e.prefill_count) > 0 AS has_prefill,
        max(e.decode_count) AS most_steps,
        min(e.decode_count) AS least_steps,
        count(DISTINCT (e.prefill_count, e.decode_count, e.batch_count, e.image_count, e.crop_count)) = 1 AS is_alike
    FROM workload_entry e
    WHERE e.run_id = $run AND NOT e.is_warmup
    GROUP BY e.kind, e.is_counted
), listed AS (
    SELECT
        e.kind,
        e.node_rank,
        e.process_id,
        e.pid,
        count(*) FILTER (e.back_count > 0) AS listed
    FROM workload_entry e
    WHERE e.run_id = $run AND NOT e.is_warmup
    GROUP BY e.kind, e.node_rank, e.process_id, e.pid
), stages AS (
    SELECT
        p.kind,
        p.node_rank,
        p.stage,
        p.pid,
        count(*) AS passes
    FROM p
    WHERE NOT p.is_ruled
    GROUP BY p.kind, p.node_rank, p.stage, p.source_id, p.pid
), fewer AS (
    SELECT
        x.kind,
        x.stage,
        min(x.passes) AS passes,
        arg_min(l.listed, (x.passes, l.listed)) AS listed,
        any_value(s.is_alike) AS is_alike
    FROM stages x
    JOIN listed l
        ON l.kind = x.kind AND l.node_rank IS NOT DISTINCT FROM x.node_rank AND (l.process_id IS NULL OR l.pid = x.pid)
    JOIN said s ON s.kind = x.kind
    WHERE (x.stage = 'prefill' OR NOT EXISTS (SELECT 1 FROM stages y WHERE y.kind = x.kind AND y.stage = 'prefill'))
        AND x.passes < l.listed
    GROUP BY x.kind, x.stage
), unsaid AS ( -- processes that a job's facts do not have
    SELECT
        p.kind,
        count(DISTINCT (p.source_id, p.pid)) AS n
    FROM p
    WHERE EXISTS (SELECT 1 FROM listed l WHERE l.kind = p.kind AND l.process_id IS NOT NULL)
        AND NOT EXISTS (
            SELECT 1
            FROM listed l
            WHERE l.kind = p.kind
                AND l.node_rank IS NOT DISTINCT FROM p.node_rank
                AND (l.process_id IS NULL OR l.pid = p.pid)
        )
    GROUP BY p.kind
), facts AS (
    SELECT
        x.kind,
        x.is_counted,
        max(x.fitting) AS fitting,
        arg_max(x.path, (x.fitting, x.path)) AS path
    FROM ( -- of each node of a job
        SELECT
            y.kind,
            y.is_counted,
            y.node_rank,
            count(*) FILTER (
                (w.capture IS NULL OR w.capture = y.kind) AND (n.value IS NULL OR n.value = y.node_rank::VARCHAR)
            ) AS fitting,
            arg_max(s.path, s.source_id) FILTER (
                (w.capture IS NULL OR w.capture = y.kind) AND (n.value IS NULL OR n.value = y.node_rank::VARCHAR)
            ) AS path
        FROM workload w
        JOIN source s ON s.run_id = w.run_id AND s.source_id = w.source_id
        LEFT JOIN source_fact n ON n.run_id = w.run_id AND n.source_id = w.source_id AND n.key = 'job.node'
        CROSS JOIN (
            SELECT DISTINCT t.kind, t.is_counted, h.node_rank
            FROM timeline t
            LEFT JOIN source_host h ON h.run_id = t.run_id AND h.source_id = t.source_id
            WHERE t.run_id = $run
        ) y
        WHERE w.run_id = $run AND s.form <> 'options'
        GROUP BY y.kind, y.is_counted, y.node_rank
    ) x
    GROUP BY x.kind, x.is_counted
)
SELECT
    'workload' AS topic,
    CASE WHEN f.is_alike THEN 'fewer-passes-alike' ELSE 'fewer-passes' END AS kind,
    w.kind AS capture,
    w.is_counted,
    f.stage,
    f.passes AS item_count,
    f.listed AS of_count
FROM fewer f JOIN way w ON w.kind = f.kind
UNION ALL BY NAME
SELECT
    'workload' AS topic,
    'process-without-facts' AS kind,
    u.kind AS capture,
    w.is_counted,
    u.n AS item_count
FROM unsaid u JOIN way w ON w.kind = u.kind
UNION ALL BY NAME
SELECT
    'workload' AS topic,
    'passes-as-steps' AS kind,
    s.kind AS capture,
    s.is_counted,
    count(*) AS item_count,
    s.most_steps AS of_count
FROM p JOIN said s ON s.kind = p.kind
WHERE p.stage = 'decode' AND p.basis = 'workload' AND p.step_count = 1 AND NOT p.is_warmup AND s.least_steps > 1
GROUP BY s.kind, s.is_counted, s.most_steps
UNION ALL BY NAME
SELECT
    'workload' AS topic,
    'steps-contradicted' AS kind,
    t.kind AS capture,
    t.is_counted,
    'decode' AS stage,
    max(s.seen_count) AS item_count,
    max(s.step_count) AS of_count
FROM _said_pass s
JOIN stage_pass f ON f.run_id = $run AND f.range_id = s.range_id
JOIN timeline t ON t.run_id = $run AND t.source_id = f.source_id
WHERE s.is_contradicted AND NOT f.is_warmup
GROUP BY t.kind, t.is_counted
UNION ALL BY NAME
SELECT
    'workload' AS topic,
    'steps-do-not-match' AS kind,
    s.kind AS capture,
    s.is_counted,
    count(*) AS item_count
FROM p JOIN said s ON s.kind = p.kind
WHERE p.stage = 'decode'
    AND p.basis IS NULL
    AND NOT p.is_warmup
    AND s.least_steps IS NOT NULL
    AND p.range_id NOT IN (SELECT x.range_id FROM _said_pass x WHERE x.is_contradicted)
    AND (s.is_alike OR s.kind NOT IN (SELECT f.kind FROM fewer f))
GROUP BY s.kind, s.is_counted
UNION ALL BY NAME
SELECT
    'workload' AS topic,
    'no-range-of-stage' AS kind,
    w.kind AS capture,
    w.is_counted,
    x.stage
FROM way w JOIN said s ON s.kind = w.kind CROSS JOIN (VALUES ('prefill'), ('decode')) x(stage)
WHERE CASE x.stage WHEN 'prefill' THEN s.has_prefill ELSE s.most_steps > 0 END
    AND NOT EXISTS (SELECT 1 FROM p WHERE p.kind = w.kind AND p.stage = x.stage)
UNION ALL BY NAME
SELECT
    'workload' AS topic,
    'all-warm-up' AS kind,
    w.kind AS capture,
    w.is_counted,
    p.stage,
    count(*) AS item_count
FROM p JOIN way w ON w.kind = p.kind
GROUP BY w.kind, w.is_counted, p.stage
HAVING bool_and(p.is_warmup) AND NOT bool_and(p.is_ruled)
UNION ALL BY NAME
SELECT
    'workload' AS topic,
    CASE f.fitting WHEN 0 THEN 'facts-of-another-timeline' ELSE 'several-workload-files' END AS kind,
    f.kind AS capture,
    f.is_counted,
    f.path AS object,
    f.fitting AS item_count
FROM facts f
WHERE f.fitting <> 1
