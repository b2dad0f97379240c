-- _trace-span: Bounds of what one source recorded, for a trace.
-- grain: one row
-- key: none
-- params:
--   run VARCHAR: the run
--   of_source BIGINT = 1: the source
-- columns:
--   start_ns: start of the first work, call, range or operator; NULL when it recorded none
--   end_ns: start of the last
--   captured_ns: UTC time of the source's start, from 1970; NULL when unknown

SELECT
    min(x.first_ns) AS start_ns,
    max(x.last_ns) AS end_ns,
    (
        SELECT epoch_ns(s.started_at)
        FROM source s
        WHERE s.run_id = run AND s.source_id = of_source
    ) AS captured_ns
FROM (
    SELECT
        min(k.start_ns) AS first_ns,
        max(k.start_ns) AS last_ns
    FROM kernel k
    WHERE k.run_id = run AND k.source_id = of_source
    UNION ALL
    SELECT
        min(k.launch_start_ns),
        NULL
    FROM kernel k
    WHERE k.run_id = run AND k.source_id = of_source
    UNION ALL
    SELECT
        min(least(m.start_ns, m.launch_start_ns)),
        max(m.start_ns)
    FROM memop m
    WHERE m.run_id = run AND m.source_id = of_source
    UNION ALL
    SELECT
        min(least(g.start_ns, g.launch_start_ns)),
        max(g.start_ns)
    FROM graph_launch g
    WHERE g.run_id = run AND g.source_id = of_source
    UNION ALL
    SELECT
        min(a.start_ns),
        max(a.start_ns)
    FROM api_call a
    WHERE a.run_id = run AND a.source_id = of_source
    UNION ALL
    SELECT
        min(l.start_ns),
        max(l.start_ns)
    FROM library_call l
    WHERE l.run_id = run AND l.source_id = of_source
    UNION ALL
    SELECT
        min(o.start_ns),
        max(o.start_ns)
    FROM osrt_call o
    WHERE o.run_id = run AND o.source_id = of_source
    UNION ALL
    SELECT
        min(v.start_ns),
        max(v.start_ns)
    FROM profiler_overhead v
    WHERE v.run_id = run AND v.source_id = of_source
    UNION ALL
    SELECT
        min(n.start_ns),
        max(n.start_ns)
    FROM nvtx_range n
    WHERE n.run_id = run AND n.source_id = of_source
    UNION ALL
    SELECT
        min(m.time_ns),
        max(m.time_ns)
    FROM nvtx_mark m
    WHERE m.run_id = run AND m.source_id = of_source
    UNION ALL
    SELECT
        min(o.start_ns),
        max(o.start_ns)
    FROM op o
    WHERE o.run_id = run AND o.source_id = of_source
    UNION ALL
    SELECT
        min(y.start_ns),
        max(y.start_ns)
    FROM python_call y
    WHERE y.run_id = run AND y.source_id = of_source
) x
