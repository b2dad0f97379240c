-- _trace-part: Times that part what one source recorded, for a trace: so many rows of a table lie between two of them where they are stored
--     in the order of time, and more where not.
-- grain: one time
-- key: start_ns
-- params:
--   run VARCHAR: the run
--   of_source BIGINT = 1: the source
--   part_size BIGINT = 1000000: rows in a part
-- columns:
--   start_ns: where a part starts

SELECT DISTINCT x.start_ns
FROM (
    SELECT min(k.start_ns) AS start_ns
    FROM kernel k
    WHERE k.run_id = run AND k.source_id = of_source
    GROUP BY k.rowid // part_size
    UNION ALL
    SELECT min(m.start_ns)
    FROM memop m
    WHERE m.run_id = run AND m.source_id = of_source
    GROUP BY m.rowid // part_size
    UNION ALL
    SELECT min(a.start_ns)
    FROM api_call a
    WHERE a.run_id = run AND a.source_id = of_source
    GROUP BY a.rowid // part_size
    UNION ALL
    SELECT min(n.start_ns)
    FROM nvtx_range n
    WHERE n.run_id = run AND n.source_id = of_source
    GROUP BY n.rowid // part_size
    UNION ALL
    SELECT min(o.start_ns)
    FROM op o
    WHERE o.run_id = run AND o.source_id = of_source
    GROUP BY o.rowid // part_size
    UNION ALL
    SELECT min(y.start_ns)
    FROM python_call y
    WHERE y.run_id = run AND y.source_id = of_source
    GROUP BY y.rowid // part_size
    UNION ALL
    SELECT min(m.time_ns)
    FROM gpu_metric m
    WHERE m.run_id = run AND m.source_id = of_source
    GROUP BY m.rowid // part_size
) x
ORDER BY x.start_ns
