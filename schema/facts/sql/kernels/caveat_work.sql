-- caveat_work: Caveats about work outside every range or kernel table, early kernels, and GPUs that are unaccounted for.
-- into: caveat

WITH k AS (
    SELECT
        k.source_id,
        sum(k.launch_count) FILTER (k.path_id IS NULL) AS lost,
        sum(k.launch_count * k.duration_ns) FILTER (k.path_id IS NULL) AS lost_ns,
        sum(k.launch_count * k.duration_ns) AS kernel_ns
    FROM kernel_duration k
    WHERE k.run_id = $run
    GROUP BY k.source_id
), g AS (
    SELECT
        g.source_id,
        count(*) FILTER (g.mode = 'graph') AS whole,
        sum(g.duration_ns) FILTER (g.mode = 'graph') AS whole_ns
    FROM graph_launch g
    WHERE g.run_id = $run
    GROUP BY g.source_id
), e AS (
    SELECT
        f.source_id,
        sum(f.work_count) AS item_count,
        sum(f.sum_ns) AS time_ns
    FROM work_fault f
    WHERE f.run_id = $run AND f.kind = 'early-starts'
    GROUP BY f.source_id
), t AS (
    SELECT
        t.kind,
        t.is_counted,
        t.source_id,
        s.path,
        k.source_id IS NOT NULL OR g.source_id IS NOT NULL AS has_work,
        k.lost,
        k.lost_ns,
        k.kernel_ns,
        g.whole,
        g.whole_ns
    FROM timeline t
    JOIN source s ON s.run_id = t.run_id AND s.source_id = t.source_id
    LEFT JOIN k ON k.source_id = t.source_id
    LEFT JOIN g ON g.source_id = t.source_id
    WHERE t.run_id = $run
)
SELECT
    'launch' AS topic,
    'kernels-without-launch' AS kind,
    t.kind AS capture,
    t.is_counted,
    sum(t.lost)::BIGINT AS item_count,
    sum(t.lost_ns)::DOUBLE AS time_ns
FROM t
GROUP BY t.kind, t.is_counted
HAVING sum(t.lost) > 0
UNION ALL BY NAME
SELECT
    'graph' AS topic,
    'graphs-traced-whole' AS kind,
    t.kind AS capture,
    t.is_counted,
    sum(t.whole)::BIGINT AS item_count,
    sum(t.whole_ns)::DOUBLE AS time_ns
FROM t
GROUP BY t.kind, t.is_counted
HAVING sum(t.whole) > 0
UNION ALL BY NAME
SELECT
    'accounting' AS topic,
    'not-accounted' AS kind,
    t.kind AS capture,
    t.is_counted,
    t.path AS subject,
    r.prof_version AS detail
FROM t JOIN run r ON r.run_id = $run
WHERE (t.has_work OR t.source_id IN (SELECT m.source_id FROM memop m WHERE m.run_id = $run))
    AND t.source_id NOT IN (SELECT d.source_id FROM device_time d WHERE d.run_id = $run)
UNION ALL BY NAME
SELECT
    'launch' AS topic,
    'early-starts' AS kind,
    t.kind AS capture,
    t.is_counted,
    sum(e.item_count)::BIGINT AS item_count,
    sum(e.time_ns)::DOUBLE AS time_ns,
    sum(t.kernel_ns)::DOUBLE AS of_time_ns
FROM t LEFT JOIN e ON e.source_id = t.source_id
GROUP BY t.kind, t.is_counted
HAVING sum(e.time_ns) >= 0.01 * sum(t.kernel_ns)
