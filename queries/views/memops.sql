-- memops: Every memory copy and fill of every run, with its stage.
-- grain: one copy or fill
-- key: run_id, source_id, pid, device_id, stream_id, start_ns, correlation_id
-- columns:
--   run: name of the run
--   run_id: run id
--   source_id: the source
--   is_counted: whether its source is counted: sum only these rows, see kernels
--   stage: stage that issued it, by stage_rule; NULL outside every stage
--   is_warmup: whether the stage pass that issued it is warm-up; NULL outside every pass
--   path: names of the ranges that issued it, outermost first; NULL outside every range
--   operation: e.g. memcpy Host-to-Device, memset
--   size_bytes: bytes copied or set
--   src_memory: kind of the source memory: Pageable, Pinned, Device, ...
--   dst_memory: kind of the destination memory
--   pid: process that issued it
--   tid: thread that issued it; NULL when the call was not captured
--   device_id: GPU
--   context_id: CUDA context
--   stream_id: CUDA stream
--   start_ns: start on the GPU
--   duration_ns: duration
--   launch_api: API call that issued it; NULL when the call was not captured
--   launch_start_ns: start of that call
--   launch_duration_ns: time in that call
--   correlation_id: links it to its API call within the process
--   graph_node_id: CUDA graph node; NULL when not launched by a graph
--   range_context_id: set of ranges around the call, of range_context
--   pass_range_id: range of the stage pass it belongs to, of stage_pass; NULL outside every pass
--   path_id: row of range_path and path_stage
--   op_id: innermost operator that issued it

SELECT
    r.name AS run,
    m.run_id,
    m.source_id,
    coalesce(t.is_counted, false) AS is_counted,
    s.stage,
    x.is_warmup,
    p.path,
    m.operation,
    m.size_bytes,
    m.src_memory,
    m.dst_memory,
    m.pid,
    m.tid,
    m.device_id,
    m.context_id,
    m.stream_id,
    m.start_ns,
    m.duration_ns,
    a.name AS launch_api,
    m.launch_start_ns,
    m.launch_duration_ns,
    m.correlation_id,
    m.graph_node_id,
    m.range_context_id,
    x.range_id AS pass_range_id,
    m.path_id,
    m.op_id
FROM memop m
JOIN run r ON r.run_id = m.run_id
LEFT JOIN timeline t ON t.run_id = m.run_id AND t.source_id = m.source_id
LEFT JOIN path_stage s ON s.run_id = m.run_id AND s.path_id = m.path_id
LEFT JOIN range_path p ON p.run_id = m.run_id AND p.path_id = m.path_id
LEFT JOIN pass_context x ON x.run_id = m.run_id AND x.range_context_id = m.range_context_id
LEFT JOIN api_name a ON a.run_id = m.run_id AND a.api_name_id = m.launch_name_id
