-- _trace-call: What threads of one source did, for a trace: ranges, operators, calls of Python, of libraries, of CUDA and of the system,
--     and marks. A call that launched several pieces of work has a row for each.
-- grain: one range, call or mark; of a call that launched work, one piece of it
-- key: is_thread, pid, tid, start_ns, duration_ns, kind_id, name_id, name, flow_id
-- params:
--   run VARCHAR: the run
--   of_source BIGINT = 1: the source
--   device BIGINT = NULL: only processes with work on this GPU
--   stage VARCHAR = NULL: only this stage; (none) for what is outside every stage
--   pass BIGINT = NULL: only what starts within this pass of the stage
--   from_time BIGINT = NULL: only from this time of the source on
--   until_time BIGINT = NULL: only before this time of the source
--   part_time BIGINT = NULL: only what starts at this time or later
--   next_time BIGINT = NULL: only what starts before this time
-- columns:
--   is_thread: 0 for a start/end range, which threads share; else 1
--   pid: process
--   tid: thread
--   start_ns: start
--   duration_ns: duration; NULL of a range that never ended
--   kind_id: 1 range, 2 Python function, 3 operator, 4 library call, 5 CUDA call, 6 system call, 7 profiler, 8 mark
--   name_id: name by its id, in _trace-name; NULL when name has it
--   path_id: path of a range; NULL of what is none
--   result_id: what a CUDA call returned, 0 is success; NULL when not recorded
--   flow_id: number that ties the call to work that it launched; NULL for none that the trace shows
--   name: name of a range, a mark or the profiler; NULL when name_id has it
--   correlation_id: ties the call to the work of flow_id within its process

WITH place AS ( -- the path of each set of ranges
    SELECT DISTINCT c.range_context_id, c.path_id
    FROM range_context c
    WHERE c.run_id = run AND stage IS NOT NULL
), user_of AS ( -- processes with work on the GPU
    SELECT k.pid
    FROM kernel k
    WHERE k.run_id = run AND k.source_id = of_source AND k.device_id = device
    UNION
    SELECT m.pid
    FROM memop m
    WHERE m.run_id = run AND m.source_id = of_source AND m.device_id = device
    UNION
    SELECT g.pid
    FROM graph_launch g
    WHERE g.run_id = run AND g.source_id = of_source AND g.device_id = device
), piece AS (
    SELECT
        w.pid,
        w.tid,
        w.launch_start_ns,
        w.launch_duration_ns,
        w.launch_name_id,
        CASE WHEN w.is_linked THEN w.flow_id END AS flow_id,
        w.correlation_id
    FROM _trace_piece(
        run, of_source := of_source, device := device, stage := stage, pass := pass, from_time := from_time,
        until_time := until_time
    ) w
    WHERE w.is_launch_shown
        AND (part_time IS NULL OR w.launch_start_ns >= part_time)
        AND (next_time IS NULL OR w.launch_start_ns < next_time)
        AND (device IS NULL OR w.pid IN (SELECT u.pid FROM user_of u))
), c AS (
    SELECT
        CASE WHEN n.style = 'start_end' THEN 0 ELSE 1 END AS is_thread,
        n.pid,
        n.tid,
        n.start_ns,
        n.duration_ns,
        1 AS kind_id,
        NULL::BIGINT AS name_id,
        n.path_id,
        NULL::BIGINT AS result_id,
        n.path_id AS stage_path_id,
        n.name
    FROM nvtx_range n
    WHERE n.run_id = run AND n.source_id = of_source
    UNION ALL
    SELECT 1, y.pid, y.tid, y.start_ns, y.duration_ns, 2, y.stack_id, NULL, NULL, y.path_id, NULL
    FROM python_call y
    WHERE y.run_id = run AND y.source_id = of_source
    UNION ALL
    SELECT 1, o.pid, o.tid, o.start_ns, o.duration_ns, 3, o.op_name_id, NULL, NULL, o.path_id, NULL
    FROM op o
    JOIN source f ON f.run_id = o.run_id AND f.source_id = o.source_id AND f.kind NOT IN ({'rangers'})
    WHERE o.run_id = run AND o.source_id = of_source -- those are ranges too
    UNION ALL
    SELECT
        1,
        l.pid,
        l.tid,
        l.start_ns,
        l.duration_ns,
        4,
        l.api_name_id,
        NULL,
        NULL,
        coalesce(p.path_id, 0),
        NULL
    FROM library_call l LEFT JOIN place p ON p.range_context_id = l.range_context_id
    WHERE l.run_id = run AND l.source_id = of_source
    UNION ALL
    SELECT
        1,
        a.pid,
        a.tid,
        a.start_ns,
        a.duration_ns,
        5,
        a.api_name_id,
        NULL,
        a.return_value,
        coalesce(p.path_id, 0),
        NULL
    FROM api_call a LEFT JOIN place p ON p.range_context_id = a.range_context_id
    WHERE a.run_id = run AND a.source_id = of_source
    UNION ALL
    SELECT 1, o.pid, o.tid, o.start_ns, o.duration_ns, 6, o.api_name_id, NULL, NULL, NULL, NULL
    FROM osrt_call o
    WHERE o.run_id = run AND o.source_id = of_source
    UNION ALL
    SELECT 1, v.pid, v.tid, v.start_ns, v.duration_ns, 7, NULL, NULL, NULL, NULL, v.name
    FROM profiler_overhead v
    WHERE v.run_id = run AND v.source_id = of_source AND v.tid IS NOT NULL
    UNION ALL
    SELECT 1, m.pid, m.tid, m.time_ns, 0, 8, NULL, NULL, NULL, NULL, m.name
    FROM nvtx_mark m
    WHERE m.run_id = run AND m.source_id = of_source
), shown AS (
    SELECT
        c.is_thread,
        c.pid,
        c.tid,
        c.start_ns,
        c.duration_ns,
        c.kind_id,
        c.name_id,
        c.path_id,
        c.result_id,
        c.name
    FROM c LEFT JOIN path_stage s ON s.run_id = run AND s.path_id = c.stage_path_id
    WHERE (part_time IS NULL OR c.start_ns >= part_time)
        AND (next_time IS NULL OR c.start_ns < next_time)
        AND _is_shown(c.start_ns, c.start_ns + c.duration_ns, from_time, until_time)
        AND (stage IS NULL OR c.stage_path_id IS NOT NULL AND coalesce(s.stage, '(none)') = stage)
        AND (device IS NULL OR c.pid IN (SELECT u.pid FROM user_of u))
        AND (
            pass IS NULL
            OR EXISTS (
                SELECT 1
                FROM stage_pass p
                WHERE p.run_id = run
                    AND p.source_id = of_source
                    AND p.stage = stage
                    AND p.pass_id = pass
                    AND p.pid = c.pid
                    AND c.start_ns >= p.start_ns
                    AND (p.end_ns IS NULL OR c.start_ns < p.end_ns)
            )
        )
    UNION ALL -- calls under 5 us have no row of their own; the others are one with it
    SELECT
        1,
        w.pid,
        w.tid,
        w.launch_start_ns,
        w.launch_duration_ns,
        5,
        w.launch_name_id,
        NULL,
        NULL,
        NULL
    FROM piece w
    WHERE w.flow_id IS NULL
)
SELECT
    q.is_thread::BIGINT AS is_thread,
    q.pid::BIGINT AS pid,
    q.tid::BIGINT AS tid,
    q.start_ns,
    q.duration_ns,
    q.kind_id::BIGINT AS kind_id,
    q.name_id,
    q.path_id,
    q.result_id,
    q.flow_id,
    q.name,
    q.correlation_id
FROM (
    SELECT
        s.is_thread,
        s.pid,
        s.tid,
        s.start_ns,
        s.duration_ns,
        s.kind_id,
        s.name_id,
        s.path_id,
        s.result_id,
        NULL::BIGINT AS flow_id,
        s.name,
        NULL::BIGINT AS correlation_id
    FROM shown s
    UNION ALL
    SELECT
        1,
        w.pid,
        w.tid,
        w.launch_start_ns,
        w.launch_duration_ns,
        5,
        w.launch_name_id,
        NULL,
        NULL,
        w.flow_id,
        NULL,
        w.correlation_id
    FROM piece w
    WHERE w.flow_id IS NOT NULL
) q
ORDER BY q.start_ns, coalesce(q.duration_ns, 9223372036854775807) DESC, q.is_thread, q.pid, q.tid, kind_id, q.name_id,
    q.name, q.flow_id NULLS FIRST
