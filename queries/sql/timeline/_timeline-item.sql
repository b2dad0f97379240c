-- _timeline-item: What a timeline of one source draws: device work, stage passes and idle gaps of GPUs, and ranges, operators and calls of
--     threads. A range that never ended is left out.
-- grain: one piece of device work, pass, gap, range, operator or call
-- key: kind_id, device_id, pid, context_id, stream_id, tid, depth, start_ns, duration_ns, name_id, name, nth
-- params:
--   run VARCHAR: the run
--   of_source BIGINT = 1: the source
--   from_time BIGINT = NULL: only what starts at this time of the source or later
--   until_time BIGINT = NULL: only what starts before this time of the source
-- columns:
--   kind_id: 1 kernel, 3 graph replay traced as a whole, 4 copy or fill, 5 pass of a stage, 6 idle gap, 11 range, 12 Python function, 13
--     operator, 14 library call, 15 CUDA call, 16 system call, 17 profiler
--   device_id: GPU; NULL of what threads do
--   pid: process; NULL when the capture has none, and of gaps
--   context_id: CUDA context
--   stream_id: CUDA stream
--   tid: thread; NULL of what GPUs do
--   depth: how many ranges, operators or Python functions are open around it; 0 for what does not nest
--   start_ns: start, from the start of the source
--   duration_ns: duration
--   name_id: name by its id, in _trace-name; NULL when name has it
--   name: operation of a copy or fill, stage of a pass, cause of a gap, name of a range or of what the profiler did; NULL when name_id has
--     it
--   nth: number of a pass, negative for warm-up; NULL of what is none

SELECT
    1::BIGINT AS kind_id,
    k.device_id::BIGINT AS device_id,
    k.pid::BIGINT AS pid,
    k.context_id::BIGINT AS context_id,
    k.stream_id::BIGINT AS stream_id,
    NULL::BIGINT AS tid,
    0::BIGINT AS depth,
    k.start_ns,
    k.duration_ns,
    k.kernel_name_id AS name_id,
    NULL::VARCHAR AS name,
    NULL::BIGINT AS nth
FROM kernel k
WHERE k.run_id = run
    AND k.source_id = of_source
    AND (from_time IS NULL OR k.start_ns >= from_time)
    AND (until_time IS NULL OR k.start_ns < until_time)
UNION ALL
SELECT
    3,
    g.device_id,
    g.pid,
    g.context_id,
    g.stream_id,
    NULL,
    0,
    g.start_ns,
    g.duration_ns,
    NULL,
    'graph replay',
    NULL
FROM graph_launch g
WHERE g.run_id = run
    AND g.source_id = of_source
    AND g.mode = 'graph'
    AND (from_time IS NULL OR g.start_ns >= from_time)
    AND (until_time IS NULL OR g.start_ns < until_time)
UNION ALL
SELECT
    4,
    m.device_id,
    m.pid,
    m.context_id,
    m.stream_id,
    NULL,
    0,
    m.start_ns,
    m.duration_ns,
    NULL,
    m.operation,
    NULL
FROM memop m
WHERE m.run_id = run
    AND m.source_id = of_source
    AND (from_time IS NULL OR m.start_ns >= from_time)
    AND (until_time IS NULL OR m.start_ns < until_time)
UNION ALL
SELECT
    5,
    d.device_id,
    d.pid,
    NULL,
    NULL,
    NULL,
    0,
    d.start_ns,
    d.span_ns,
    NULL,
    d.stage,
    CASE WHEN d.is_warmup THEN -d.pass_id ELSE d.pass_id END
FROM device_part d
WHERE d.run_id = run
    AND d.source_id = of_source
    AND d.range_id IS NOT NULL
    AND (from_time IS NULL OR d.start_ns >= from_time)
    AND (until_time IS NULL OR d.start_ns < until_time)
UNION ALL
SELECT 6, g.device_id, NULL, NULL, NULL, NULL, 0, g.start_ns, g.duration_ns, NULL, g.part, NULL
FROM gap g
WHERE g.run_id = run
    AND g.source_id = of_source
    AND (from_time IS NULL OR g.start_ns >= from_time)
    AND (until_time IS NULL OR g.start_ns < until_time)
UNION ALL
SELECT
    11,
    NULL,
    n.pid,
    NULL,
    NULL,
    n.tid,
    p.depth - 1,
    n.start_ns,
    n.duration_ns,
    NULL,
    n.name,
    NULL
FROM nvtx_range n JOIN range_path p ON p.path_id = n.path_id
WHERE n.run_id = run
    AND p.run_id = run
    AND n.source_id = of_source
    AND n.duration_ns IS NOT NULL
    AND (from_time IS NULL OR n.start_ns >= from_time)
    AND (until_time IS NULL OR n.start_ns < until_time)
UNION ALL
SELECT
    12,
    NULL,
    y.pid,
    NULL,
    NULL,
    y.tid,
    s.depth - 1,
    y.start_ns,
    y.duration_ns,
    y.stack_id,
    NULL,
    NULL
FROM python_call y JOIN python_stack s ON s.stack_id = y.stack_id
WHERE y.run_id = run
    AND s.run_id = run
    AND y.source_id = of_source
    AND (from_time IS NULL OR y.start_ns >= from_time)
    AND (until_time IS NULL OR y.start_ns < until_time)
UNION ALL
SELECT
    13,
    NULL,
    o.pid,
    NULL,
    NULL,
    o.tid,
    o.depth - 1,
    o.start_ns,
    o.duration_ns,
    o.op_name_id,
    NULL,
    NULL -- in captures of Nsight Systems they are ranges too
FROM op o JOIN source f ON f.source_id = o.source_id AND f.kind NOT IN ({'rangers'})
WHERE o.run_id = run
    AND f.run_id = run
    AND o.source_id = of_source
    AND (from_time IS NULL OR o.start_ns >= from_time)
    AND (until_time IS NULL OR o.start_ns < until_time)
UNION ALL
SELECT 14, NULL, l.pid, NULL, NULL, l.tid, 0, l.start_ns, l.duration_ns, l.api_name_id, NULL, NULL
FROM library_call l
WHERE l.run_id = run
    AND l.source_id = of_source
    AND (from_time IS NULL OR l.start_ns >= from_time)
    AND (until_time IS NULL OR l.start_ns < until_time)
UNION ALL
SELECT 15, NULL, a.pid, NULL, NULL, a.tid, 0, a.start_ns, a.duration_ns, a.api_name_id, NULL, NULL
FROM api_call a
WHERE a.run_id = run
    AND a.source_id = of_source
    AND (from_time IS NULL OR a.start_ns >= from_time)
    AND (until_time IS NULL OR a.start_ns < until_time)
UNION ALL
-- launches of less than 5 us have no row of their own
SELECT 15, NULL, l.pid, NULL, NULL, l.tid, 0, l.start_ns, l.duration_ns, l.api_name_id, NULL, NULL
FROM (
    SELECT
        w.pid,
        w.tid,
        w.launch_start_ns AS start_ns,
        w.launch_duration_ns AS duration_ns,
        w.launch_name_id AS api_name_id
    FROM (
        SELECT
            k.run_id,
            k.source_id,
            k.pid,
            k.tid,
            k.launch_start_ns,
            k.launch_duration_ns,
            k.launch_name_id
        FROM kernel k
        UNION ALL
        SELECT
            m.run_id,
            m.source_id,
            m.pid,
            m.tid,
            m.launch_start_ns,
            m.launch_duration_ns,
            m.launch_name_id
        FROM memop m
        UNION ALL
        SELECT
            g.run_id,
            g.source_id,
            g.pid,
            g.tid,
            g.launch_start_ns,
            g.launch_duration_ns,
            g.launch_name_id
        FROM graph_launch g
    ) w
    WHERE w.run_id = run
        AND w.source_id = of_source
        AND w.pid IS NOT NULL
        AND w.tid IS NOT NULL
        AND w.launch_name_id IS NOT NULL
        AND w.launch_duration_ns IS NOT NULL
        AND (from_time IS NULL OR w.launch_start_ns >= from_time)
        AND (until_time IS NULL OR w.launch_start_ns < until_time)
    GROUP BY w.pid, w.tid, w.launch_start_ns, w.launch_duration_ns, w.launch_name_id
) l
ANTI JOIN api_call a
    ON a.run_id = run
    AND a.source_id = of_source
    AND a.pid = l.pid
    AND a.tid = l.tid
    AND a.start_ns = l.start_ns
    AND a.api_name_id = l.api_name_id
UNION ALL
SELECT 16, NULL, o.pid, NULL, NULL, o.tid, 0, o.start_ns, o.duration_ns, o.api_name_id, NULL, NULL
FROM osrt_call o
WHERE o.run_id = run
    AND o.source_id = of_source
    AND (from_time IS NULL OR o.start_ns >= from_time)
    AND (until_time IS NULL OR o.start_ns < until_time)
UNION ALL
SELECT 17, NULL, v.pid, NULL, NULL, v.tid, 0, v.start_ns, v.duration_ns, NULL, v.name, NULL
FROM profiler_overhead v
WHERE v.run_id = run
    AND v.source_id = of_source
    AND v.tid IS NOT NULL
    AND (from_time IS NULL OR v.start_ns >= from_time)
    AND (until_time IS NULL OR v.start_ns < until_time)
