-- _trace-work: Device work of one source for a trace, by time.
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
--   part_time BIGINT = NULL: only what starts at this time or later
--   next_time BIGINT = NULL: only what starts before this time
-- columns:
--   device_id: GPU
--   pid: process; NULL when the capture has none
--   context_id: CUDA context
--   stream_id: CUDA stream
--   start_ns: start on the GPU
--   duration_ns: duration
--   kind_id: 1 kernel, 3 graph replay, 4 copy or fill
--   name_id: its kernel_name_id; NULL for copies, fills and replays
--   shape_id: its kernel_shape_id
--   path_id: path of the ranges that launched it; 0 outside every range, NULL when the launch was not captured
--   op_name_id: name of the operator that launched it
--   pass_id: number of the pass that launched it; NULL outside every pass
--   correlation_id: ties it to its launch within its process
--   graph_node_id: CUDA graph node; NULL when not launched by a graph
--   size_bytes: bytes copied or set
--   flow_id: number that ties it to its launch; NULL when the trace does not show that
--   operation: operation of a copy or fill; NULL for other work

SELECT
    w.device_id::BIGINT AS device_id,
    w.pid::BIGINT AS pid,
    w.context_id::BIGINT AS context_id,
    w.stream_id::BIGINT AS stream_id,
    w.start_ns,
    w.duration_ns,
    w.kind_id::BIGINT AS kind_id,
    w.name_id,
    w.shape_id,
    w.path_id,
    o.op_name_id,
    w.pass_id,
    w.correlation_id,
    w.graph_node_id,
    w.size_bytes,
    CASE WHEN w.is_linked THEN w.flow_id END AS flow_id,
    w.operation
FROM _trace_piece(
    run, of_source := of_source, device := device, stage := stage, pass := pass, from_time := from_time,
    until_time := until_time
) w
LEFT JOIN op o ON o.run_id = run AND o.op_id = w.op_id
WHERE w.is_shown AND (part_time IS NULL OR w.start_ns >= part_time) AND (next_time IS NULL OR w.start_ns < next_time)
ORDER BY w.start_ns, w.duration_ns, w.device_id, w.pid, w.context_id, w.stream_id, w.correlation_id, w.graph_node_id,
    w.flow_id
