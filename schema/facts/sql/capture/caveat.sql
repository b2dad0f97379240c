-- caveat: What a reader of the run's numbers must know: what they exclude, what they assume, and why some are missing. Data only; prof
--     words it.
-- grain: one caveat
-- key: topic, kind, capture, stage, subject, object, detail
-- columns:
--   topic VARCHAR: topic; a query names the topics that belong with its rows
--   kind VARCHAR: kind of caveat: kernels-without-launch, no-stage, ...
--   capture VARCHAR: capture kind that must be counted for the caveat to apply: nsys, prof, torch, nsys-stats or key_averages; NULL for any
--   is_counted BOOLEAN: whether it applies unless another capture kind is selected
--   stage VARCHAR: the stage concerned; NULL for none
--   subject VARCHAR: what it concerns: a source, a GPU, ...
--   object VARCHAR: what else it names
--   detail VARCHAR: what else it says
--   item_count BIGINT: how many
--   of_count BIGINT: total that item_count is part of, or is compared with
--   time_ns DOUBLE: how long
--   of_time_ns DOUBLE: total that time_ns is part of, or is compared with
--   ratio DOUBLE: share of the total, or multiple of it

WITH way AS ( -- what may be asked for, also of a run that has none of it
    SELECT
        x.kind AS capture,
        x.kind
            = coalesce(
                (SELECT min(t.kind) FROM timeline t WHERE t.run_id = $run AND t.is_counted),
                'nsys'
            ) AS is_counted
    FROM (SELECT unnest([{'traced'}]) AS kind) x
), counted AS (
    SELECT t.source_id, t.kind, s.form, s.path
    FROM timeline t JOIN source s ON s.run_id = t.run_id AND s.source_id = t.source_id
    WHERE t.run_id = $run
), worked AS (
    SELECT DISTINCT c.kind
    FROM (SELECT DISTINCT k.source_id FROM kernel_duration k WHERE k.run_id = $run) k
    JOIN counted c ON c.source_id = k.source_id
), repeated AS (
    SELECT
        c.kind,
        count(DISTINCT h.recording) AS n
    FROM source_host h JOIN counted c ON c.source_id = h.source_id
    WHERE h.run_id = $run
    GROUP BY c.kind
), profiled AS (
    SELECT
        l.kind,
        count(*) AS n,
        count(s.stage) AS staged
    FROM ncu_launch l LEFT JOIN path_stage s ON s.run_id = l.run_id AND s.path_id = l.path_id
    WHERE l.run_id = $run
    GROUP BY l.kind
), scoped AS ( -- stages by the names of scopes, which have no times
    SELECT
        c.kind,
        string_agg(DISTINCT s.stage, ', ' ORDER BY s.stage) AS stages
    FROM kernel_duration k
    JOIN counted c ON c.source_id = k.source_id
    JOIN path_stage s ON s.run_id = k.run_id AND s.path_id = k.path_id
    WHERE k.run_id = $run AND s.stage IS NOT NULL
    GROUP BY c.kind
), beside AS ( -- with more than kernels
    SELECT DISTINCT c.kind
    FROM (
        SELECT DISTINCT a.source_id
        FROM api_call a
        WHERE a.run_id = $run
        UNION
        SELECT DISTINCT m.source_id
        FROM memop m
        WHERE m.run_id = $run
        UNION
        SELECT DISTINCT r.source_id
        FROM nvtx_range r
        WHERE r.run_id = $run
    ) x
    JOIN counted c ON c.source_id = x.source_id
), ranges AS (
    SELECT
        c.kind,
        count(*) AS n,
        count(s.stage) AS staged
    FROM nvtx_range r
    JOIN counted c ON c.source_id = r.source_id
    LEFT JOIN path_stage s ON s.run_id = r.run_id AND s.path_id = r.path_id
    WHERE r.run_id = $run
    GROUP BY c.kind
), lacks AS (
    SELECT
        'capture' AS topic,
        CASE
            WHEN EXISTS (SELECT 1 FROM workload_alone w WHERE w.run_id = $run) THEN 'timed-by-workload'
            ELSE 'not-captured-by-prof'
        END AS kind,
        EXISTS (SELECT 1 FROM capture c WHERE c.run_id = $run) AS has
    UNION ALL
    SELECT
        'ncu',
        CASE WHEN EXISTS (SELECT 1 FROM profiled) THEN 'no-profiled-kernels' ELSE 'not-profiled' END,
        EXISTS (SELECT 1 FROM profiled p WHERE p.kind = 'kernel')
    UNION ALL
    SELECT
        'region',
        'no-profiled-regions',
        EXISTS (SELECT 1 FROM profiled p WHERE p.kind <> 'kernel')
    UNION ALL
    SELECT
        'memory',
        'no-allocations',
        EXISTS (SELECT 1 FROM memory_event m WHERE m.run_id = $run)
    UNION ALL
    SELECT
        'operators',
        'no-operators',
        EXISTS (SELECT 1 FROM op_source x WHERE x.run_id = $run)
    UNION ALL
    SELECT
        'stack',
        'no-python-functions',
        EXISTS (SELECT 1 FROM python_stack s WHERE s.run_id = $run)
    UNION ALL
    SELECT
        'sync',
        'no-synchronisations',
        NOT EXISTS (SELECT 1 FROM counted c WHERE c.kind = 'prof') OR EXISTS (SELECT 1 FROM sync y WHERE y.run_id = $run)
)
SELECT l.topic, l.kind, true AS is_counted
FROM lacks l
WHERE NOT l.has
UNION ALL BY NAME
SELECT
    'source' AS topic,
    'source-partial' AS kind,
    true AS is_counted,
    s.path AS subject,
    s.status AS object,
    s.reason AS detail
FROM source s
WHERE s.run_id = $run AND s.status <> 'ok'
UNION ALL BY NAME
SELECT
    'profiled' AS topic,
    'profiled-launches' AS kind,
    true AS is_counted,
    p.kind AS object,
    p.n AS item_count
FROM profiled p
UNION ALL BY NAME
SELECT
    'timeline' AS topic,
    CASE WHEN w.capture IN (SELECT c.kind FROM counted c) THEN 'no-kernels' ELSE 'no-timeline' END AS kind,
    w.capture,
    w.is_counted
FROM way w
WHERE w.capture NOT IN (SELECT k.kind FROM worked k) AND EXISTS (SELECT 1 FROM profiled)
UNION ALL BY NAME
SELECT
    'timelines' AS topic,
    'two-timelines' AS kind,
    w.capture,
    w.is_counted,
    w.capture AS object,
    string_agg(DISTINCT c.kind, ' ' ORDER BY c.kind) AS detail
FROM way w JOIN counted c ON c.kind <> w.capture AND (c.kind <> 'torch' OR c.form = 'torch-trace')
WHERE w.capture IN (SELECT x.kind FROM counted x WHERE x.kind <> 'torch' OR x.form = 'torch-trace')
GROUP BY w.capture, w.is_counted
UNION ALL BY NAME
SELECT
    'timelines' AS topic,
    'several-repeats' AS kind,
    w.capture,
    w.is_counted,
    r.n AS item_count
FROM way w JOIN repeated r ON r.kind = w.capture
WHERE r.n > 1
UNION ALL BY NAME
SELECT
    'timelines' AS topic,
    'earlier-window' AS kind,
    c.kind AS capture,
    w.is_counted,
    c.path AS subject
FROM counted c
JOIN way w ON w.capture = c.kind
LEFT JOIN _source_window x ON x.source_id = c.source_id
WHERE coalesce(x.begin_ns, 0) = 0
    AND c.source_id IN (
        SELECT d.source_id
        FROM diagnostic d
        WHERE d.run_id = $run AND d.origin = 'capture' AND d.time_ns < 0 AND starts_with(d.message, 'Profiling stopped')
    )
UNION ALL BY NAME
SELECT
    'timelines' AS topic,
    'several-nodes' AS kind,
    true AS is_counted,
    count(*) AS item_count,
    max(n.node_count)::BIGINT AS of_count
FROM capture_node n
WHERE n.run_id = $run
GROUP BY n.run_id
HAVING count(*) > 1 OR max(n.node_count) > 1
UNION ALL BY NAME
SELECT
    'step' AS topic,
    'steps-by-recurrence' AS kind,
    w.capture,
    w.is_counted,
    c.path AS subject
FROM way w JOIN counted c ON c.kind = w.capture
WHERE c.source_id NOT IN (SELECT x.source_id FROM step x WHERE x.run_id = $run AND x.basis = 'range')
UNION ALL BY NAME
SELECT
    'step' AS topic,
    'steps-by-time' AS kind,
    c.kind AS capture,
    w.is_counted,
    any_value(p.name) AS subject,
    (sum(s.kernel_count) - coalesce(sum(l.kernel_count), 0))::BIGINT AS item_count,
    sum(s.kernel_count)::BIGINT AS of_count
FROM step s
JOIN counted c ON c.source_id = s.source_id
JOIN way w ON w.capture = c.kind
LEFT JOIN step l
    ON l.run_id = s.run_id AND l.attribution = 'launch' AND l.range_id = s.range_id AND l.device_id = s.device_id
JOIN range_path p ON p.run_id = s.run_id AND p.path_id = s.name_path_id
WHERE s.run_id = $run AND s.is_default AND s.attribution = 'time' AND s.basis = 'range'
GROUP BY c.kind, w.is_counted, s.name_path_id
HAVING sum(s.kernel_count) > coalesce(sum(l.kernel_count), 0)
UNION ALL BY NAME
SELECT 'skew' AS topic, 'no-matched-collective' AS kind, w.capture, w.is_counted
FROM way w
WHERE w.capture NOT IN (
        SELECT c.kind
        FROM counted c
        JOIN rank_wait r
            ON r.run_id = $run
            AND r.source_id = c.source_id
            AND (r.rank_count > 1 AND r.start_ns IS NOT NULL OR r.reason = 'hosts-apart')
    )
UNION ALL BY NAME
SELECT
    'recorded' AS topic,
    'kernels-alone' AS kind,
    w.capture,
    w.is_counted
FROM way w JOIN worked x ON x.kind = w.capture
WHERE w.capture NOT IN (SELECT b.kind FROM beside b)
UNION ALL BY NAME
SELECT
    'stage' AS topic,
    'no-stage' AS kind,
    w.capture,
    w.is_counted,
    coalesce(r.n, 0) AS item_count
FROM way w LEFT JOIN ranges r ON r.kind = w.capture
WHERE coalesce(r.staged, 0) = 0
    AND w.capture NOT IN (SELECT d.kind FROM scoped d)
    AND NOT EXISTS (SELECT 1 FROM profiled p WHERE p.staged > 0)
UNION ALL BY NAME
SELECT
    'stage' AS topic,
    'stages-without-passes' AS kind,
    w.capture,
    w.is_counted,
    d.stages AS subject
FROM way w JOIN scoped d ON d.kind = w.capture
LEFT JOIN ranges r ON r.kind = w.capture
WHERE coalesce(r.staged, 0) = 0
