-- caveat_operator: Caveats about operators: which are counted, what they exclude, or why a capture has none.
-- into: caveat
-- needs: op_source

WITH w AS (
    SELECT
        x.capture,
        bool_or(x.is_counted) AS is_counted,
        count(*) AS sources,
        bool_or(x.has_inputs) AS has_inputs,
        min(s.path) FILTER (x.is_summed) AS path,
        min(s.path) FILTER (x.is_shape_summed) AS shaped_path
    FROM op_source x JOIN source s ON s.run_id = $run AND s.source_id = x.source_id
    WHERE x.run_id = $run
    GROUP BY x.capture
), share AS (
    SELECT
        x.capture,
        sum(k.total_ns) AS all_ns,
        sum(k.total_ns) FILTER (k.outside = '(none)') AS outside_ns,
        sum(k.total_ns) FILTER (k.outside = '(no launch)') AS unknown_ns,
        sum(k.total_ns) FILTER (k.outside = '(graph replay)') AS replay_ns
    FROM op_work k JOIN op_source x ON x.run_id = $run AND x.source_id = k.source_id
    WHERE k.run_id = $run
    GROUP BY x.capture
)
SELECT
    'operators' AS topic,
    'no-operators-of-capture' AS kind,
    x.capture,
    false AS is_counted,
    x.capture AS subject,
    w.capture AS object
FROM (SELECT unnest([{'operators'}]) AS capture) x CROSS JOIN w
WHERE x.capture NOT IN (SELECT y.capture FROM w y)
UNION ALL BY NAME
SELECT
    'operators' AS topic,
    'operators-of-several-captures' AS kind,
    w.capture,
    w.is_counted,
    w.capture AS subject,
    x.capture AS object
FROM w JOIN w x ON x.capture <> w.capture
UNION ALL BY NAME
SELECT
    'operators' AS topic,
    'operators-of-several-traces' AS kind,
    w.capture,
    w.is_counted,
    w.sources AS item_count
FROM w
WHERE w.capture <> 'key_averages' AND w.sources > 1
UNION ALL BY NAME
SELECT x.topic, x.kind, w.capture, w.is_counted
FROM w
CROSS JOIN (
    VALUES ('operator-sums', 'sums-of-operators'), ('operator-calls', 'no-calls-in-sums')
) x(topic, kind)
WHERE w.capture = 'key_averages'
UNION ALL BY NAME
SELECT
    'operator-sums' AS topic,
    'several-tables-of-sums' AS kind,
    w.capture,
    w.is_counted,
    w.path AS object,
    nullif(w.shaped_path, w.path) AS detail,
    w.sources AS item_count
FROM w
WHERE w.capture = 'key_averages' AND w.sources > 1
UNION ALL BY NAME
SELECT
    'operator-shapes' AS topic,
    CASE w.capture WHEN 'key_averages' THEN 'no-shapes-in-sums' ELSE 'no-shapes' END AS kind,
    w.capture,
    w.is_counted
FROM w
WHERE NOT w.has_inputs
UNION ALL BY NAME
SELECT
    'outside' AS topic,
    x.kind,
    w.capture,
    w.is_counted,
    x.ns::DOUBLE AS time_ns,
    s.all_ns::DOUBLE AS of_time_ns
FROM share s
JOIN w ON w.capture = s.capture
CROSS JOIN LATERAL (
    SELECT
        'work-outside-operators' AS kind,
        s.outside_ns AS ns
    UNION ALL
    SELECT 'work-of-unknown-operators', s.unknown_ns
    UNION ALL
    SELECT 'replays-of-unknown-operators', s.replay_ns
) x
WHERE x.ns >= 0.01 * s.all_ns AND s.all_ns > 0
UNION ALL BY NAME
SELECT 'outside' AS topic, 'no-device-work' AS kind, w.capture, w.is_counted
FROM w
WHERE w.capture <> 'key_averages' AND w.capture NOT IN (SELECT s.capture FROM share s)
