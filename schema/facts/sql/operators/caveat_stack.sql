-- caveat_stack: What captures of Nsight Systems with Python stacks know of launches and of idle time.
-- into: caveat
-- needs: python_stack stack_work gap_stack

WITH s AS (
    SELECT t.source_id, t.is_counted
    FROM timeline t
    WHERE t.run_id = $run AND t.kind = 'nsys'
), stacked AS (
    SELECT DISTINCT w.source_id
    FROM stack_work w JOIN s ON s.source_id = w.source_id
    WHERE w.run_id = $run AND w.stack_id IS NOT NULL
), sampled AS (
    SELECT
        x.source_id,
        x.pid,
        x.tid,
        x.time_ns - lag(x.time_ns) OVER (PARTITION BY x.source_id, x.pid, x.tid ORDER BY x.time_ns) AS interval_ns
    FROM python_sample x
    WHERE x.run_id = $run
), idle AS (
    SELECT
        g.source_id,
        sum(g.duration_ns) AS all_ns
    FROM gap_sum g
    WHERE g.run_id = $run
    GROUP BY g.source_id
), named AS (
    SELECT
        x.source_id,
        sum(g.duration_ns) AS sample_ns
    FROM gap_stack x
    JOIN gap g
        ON g.run_id = $run AND g.source_id = x.source_id AND g.device_id = x.device_id AND g.start_ns = x.start_ns
    WHERE x.run_id = $run AND x.found_by = 'sample'
    GROUP BY x.source_id
)
SELECT
    'stack' AS topic,
    'launches-without-stack' AS kind,
    'nsys' AS capture,
    bool_or(s.is_counted) AS is_counted,
    regexp_replace(a.name, '_v[0-9]+$', '') AS object,
    count(*) AS item_count,
    sum(k.duration_ns)::DOUBLE AS time_ns,
    (
        SELECT sum(w.total_ns)
        FROM stack_work w JOIN stacked x ON x.source_id = w.source_id
        WHERE w.run_id = $run
    )::DOUBLE AS of_time_ns
FROM kernel k
JOIN s ON s.source_id = k.source_id
JOIN stacked t ON t.source_id = s.source_id
JOIN api_name a ON a.run_id = $run AND a.api_name_id = k.launch_name_id
WHERE k.run_id = $run AND k.stack_id IS NULL
GROUP BY regexp_replace(a.name, '_v[0-9]+$', '')
UNION ALL BY NAME
SELECT
    'stack' AS topic,
    'samples-without-stacks' AS kind,
    'nsys' AS capture,
    bool_or(s.is_counted) AS is_counted
FROM s
WHERE s.source_id IN (SELECT x.source_id FROM sampled x) AND s.source_id NOT IN (SELECT x.source_id FROM stacked x)
HAVING count(*) > 0
UNION ALL BY NAME
SELECT
    'sampled' AS topic,
    'python-sampled' AS kind,
    'nsys' AS capture,
    bool_or(s.is_counted) AS is_counted,
    count(*) AS item_count,
    count(DISTINCT (x.source_id, x.pid, x.tid)) AS of_count,
    median(x.interval_ns) AS time_ns
FROM sampled x JOIN s ON s.source_id = x.source_id
HAVING median(x.interval_ns) > 0
UNION ALL BY NAME
SELECT
    'sampled' AS topic,
    'idle-by-samples' AS kind,
    'nsys' AS capture,
    bool_or(s.is_counted) AS is_counted,
    coalesce(sum(n.sample_ns), 0)::DOUBLE AS time_ns,
    sum(i.all_ns)::DOUBLE AS of_time_ns
FROM s JOIN idle i ON i.source_id = s.source_id LEFT JOIN named n ON n.source_id = s.source_id
WHERE s.source_id IN (SELECT x.source_id FROM sampled x)
HAVING sum(i.all_ns) > 0
