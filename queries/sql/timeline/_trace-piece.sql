-- _trace-piece: Device work of one source with the call that launched it, for a trace: what a window of time shows, or shows the launch of.
-- grain: one kernel, copy, fill or graph replay traced as a whole
-- key: flow_id
-- params:
--   run VARCHAR: the run
--   of_source BIGINT = 1: the source
--   device BIGINT = NULL: only this GPU
--   stage VARCHAR = NULL: only what was launched in this stage; (none) for what was launched outside every stage
--   pass BIGINT = NULL: only what was launched in this pass of the stage
--   from_time BIGINT = NULL: only from this time of the source on
--   until_time BIGINT = NULL: only before this time of the source
-- columns:
--   flow_id: number that no other piece of the run has; it ties the work to its launch in a trace
--   kind_id: 1 kernel, 3 graph replay, 4 copy or fill
--   device_id: GPU
--   pid: process; NULL when the capture has none
--   context_id: CUDA context
--   stream_id: CUDA stream
--   start_ns: start on the GPU
--   duration_ns: duration
--   name_id: its kernel_name_id; NULL for copies, fills and replays
--   operation: operation of a copy or fill; NULL for other work
--   size_bytes: bytes copied or set
--   shape_id: its kernel_shape_id
--   correlation_id: ties it to its launch within its process
--   graph_node_id: CUDA graph node; NULL when not launched by a graph
--   path_id: path of the ranges that launched it; 0 outside every range, NULL when the launch was not captured
--   op_id: operator that launched it
--   pass_id: number of the pass that launched it; NULL outside every pass
--   tid: thread that launched it; NULL when the launch was not captured
--   launch_start_ns: start of the call that launched it; NULL when the launch was not captured
--   launch_duration_ns: time in that call
--   launch_name_id: function of that call
--   is_shown: whether the work is asked for
--   is_launch_shown: whether its launch is; false without one
--   is_linked: whether both are, and the work does not start before its launch, as times of two clocks may say

SELECT
    q.flow_id,
    q.kind_id,
    q.device_id,
    q.pid,
    q.context_id,
    q.stream_id,
    q.start_ns,
    q.duration_ns,
    q.name_id,
    q.operation,
    q.size_bytes,
    q.shape_id,
    q.correlation_id,
    q.graph_node_id,
    q.path_id,
    q.op_id,
    q.pass_id,
    q.tid,
    q.launch_start_ns,
    q.launch_duration_ns,
    q.launch_name_id,
    q.is_shown,
    q.is_launch_shown,
    q.is_shown AND q.is_launch_shown AND q.start_ns >= q.launch_start_ns AS is_linked
FROM (
    SELECT
        w.flow_id,
        w.kind_id,
        w.device_id,
        w.pid,
        w.context_id,
        w.stream_id,
        w.start_ns,
        w.duration_ns,
        w.name_id,
        w.operation,
        w.size_bytes,
        w.shape_id,
        w.correlation_id,
        w.graph_node_id,
        w.path_id,
        w.op_id,
        p.pass_id,
        w.tid,
        w.launch_start_ns,
        w.launch_duration_ns,
        w.launch_name_id,
        (device IS NULL OR w.device_id = device)
        AND _is_shown(w.start_ns, w.start_ns + w.duration_ns, from_time, until_time) AS is_shown,
        w.launch_start_ns IS NOT NULL
        AND w.launch_duration_ns IS NOT NULL
        AND w.launch_name_id IS NOT NULL
        AND w.pid IS NOT NULL
        AND w.tid IS NOT NULL
        AND _is_shown(
            w.launch_start_ns,
            w.launch_start_ns + w.launch_duration_ns,
            from_time,
            until_time
        ) AS is_launch_shown
    FROM (
        SELECT
            k.rowid * 4 + 1 AS flow_id,
            1 AS kind_id,
            k.run_id,
            k.source_id,
            k.device_id,
            k.pid,
            k.context_id,
            k.stream_id,
            k.start_ns,
            k.duration_ns,
            k.kernel_name_id AS name_id,
            NULL::VARCHAR AS operation,
            NULL::BIGINT AS size_bytes,
            k.kernel_shape_id AS shape_id,
            k.correlation_id,
            k.graph_node_id,
            k.path_id,
            k.range_context_id,
            k.op_id,
            k.tid,
            k.launch_start_ns,
            k.launch_duration_ns,
            k.launch_name_id
        FROM kernel k
        UNION ALL
        SELECT
            m.rowid * 4 + 2,
            4,
            m.run_id,
            m.source_id,
            m.device_id,
            m.pid,
            m.context_id,
            m.stream_id,
            m.start_ns,
            m.duration_ns,
            NULL,
            m.operation,
            m.size_bytes,
            NULL,
            m.correlation_id,
            m.graph_node_id,
            m.path_id,
            m.range_context_id,
            m.op_id,
            m.tid,
            m.launch_start_ns,
            m.launch_duration_ns,
            m.launch_name_id
        FROM memop m
        UNION ALL
        SELECT
            g.rowid * 4 + 3,
            3,
            g.run_id,
            g.source_id,
            g.device_id,
            g.pid,
            g.context_id,
            g.stream_id,
            g.start_ns,
            g.duration_ns,
            NULL,
            NULL,
            NULL,
            NULL,
            g.correlation_id,
            NULL,
            g.path_id,
            g.range_context_id,
            NULL,
            g.tid,
            g.launch_start_ns,
            g.launch_duration_ns,
            g.launch_name_id
        FROM graph_launch g
        WHERE g.mode = 'graph'
    ) w
    LEFT JOIN path_stage s ON s.run_id = run AND s.path_id = w.path_id
    LEFT JOIN pass_context x ON x.run_id = run AND x.range_context_id = w.range_context_id
    LEFT JOIN stage_pass p ON p.run_id = run AND p.range_id = x.range_id
    WHERE w.run_id = run
        AND w.source_id = of_source
        AND (stage IS NULL OR coalesce(s.stage, '(none)') = stage)
        AND (pass IS NULL OR p.pass_id = pass AND p.stage = stage)
) q
