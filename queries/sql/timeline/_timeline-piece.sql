-- _timeline-piece: All device work of a run that a timeline can draw.
-- grain: one kernel, copy, fill or graph replay traced as a whole
-- key: source_id, device_id, lane_id, pid, context_id, stream_id, start_ns, duration_ns, name_id, operation, path_id
-- params:
--   run VARCHAR: the run
-- columns:
--   source_id: the source
--   device_id: GPU
--   lane_id: 1 kernel, 3 graph, 4 copy or fill
--   pid: process; NULL when the capture has none
--   context_id: CUDA context
--   stream_id: CUDA stream
--   path_id: path of the ranges that launched it; 0 outside every range, NULL when the launch was not captured
--   name_id: its kernel_name_id; NULL for copies, fills and replays
--   operation: operation of a copy or fill; NULL for other work
--   start_ns: start on the GPU
--   duration_ns: duration
--   tid: thread that launched it; NULL when the launch was not captured
--   launch_start_ns: start of the call that launched it; NULL, as in the next two columns, when the launch was not captured
--   launch_duration_ns: time in that call
--   launch_name_id: function of that call

-- One filter for the three: each reference to a run takes DuckDB milliseconds to plan.
SELECT
    w.source_id,
    w.device_id,
    w.lane_id,
    w.pid,
    w.context_id,
    w.stream_id,
    w.path_id,
    w.name_id,
    w.operation,
    w.start_ns,
    w.duration_ns,
    w.tid,
    w.launch_start_ns,
    w.launch_duration_ns,
    w.launch_name_id
FROM (
    SELECT
        k.run_id,
        k.source_id,
        k.device_id,
        1 AS lane_id,
        k.pid,
        k.context_id,
        k.stream_id,
        k.path_id,
        k.kernel_name_id AS name_id,
        NULL::VARCHAR AS operation,
        k.start_ns,
        k.duration_ns,
        k.tid,
        k.launch_start_ns,
        k.launch_duration_ns,
        k.launch_name_id
    FROM kernel k
    UNION ALL
    SELECT
        m.run_id,
        m.source_id,
        m.device_id,
        4,
        m.pid,
        m.context_id,
        m.stream_id,
        m.path_id,
        NULL,
        m.operation,
        m.start_ns,
        m.duration_ns,
        m.tid,
        m.launch_start_ns,
        m.launch_duration_ns,
        m.launch_name_id
    FROM memop m
    UNION ALL
    SELECT
        g.run_id,
        g.source_id,
        g.device_id,
        3,
        g.pid,
        g.context_id,
        g.stream_id,
        g.path_id,
        NULL,
        NULL,
        g.start_ns,
        g.duration_ns,
        g.tid,
        g.launch_start_ns,
        g.launch_duration_ns,
        g.launch_name_id
    FROM graph_launch g
    WHERE g.mode = 'graph'
) w
WHERE w.run_id = run
