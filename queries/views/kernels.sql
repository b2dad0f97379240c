-- kernels: Every kernel execution of every run, with names, stage, family and role.
-- grain: one execution
-- key: run_id, source_id, pid, device_id, stream_id, start_ns, kernel_name_id
-- columns:
--   run: name of the run
--   run_id: run id
--   source_id: the source
--   is_counted: whether its source is counted: sum only these rows, since a run may have both an Nsight Systems and a PyTorch profiler
--     timeline
--   stage: stage that launched it, by stage_rule; NULL outside every stage
--   is_warmup: whether the stage pass that launched it is warm-up; NULL outside every pass
--   path: names of the ranges that launched it, outermost first; NULL outside every range
--   kernel: demangled name
--   short_name: base name
--   family: kernel family by kernel_rule; NULL when no rule matches
--   role: what kernels of the family do; NULL when no rule matches
--   library: library of the family; NULL when the rule names none
--   pid: process that launched it
--   tid: thread that launched it; NULL when the launch was not captured
--   device_id: GPU
--   context_id: CUDA context
--   stream_id: CUDA stream
--   start_ns: start on the GPU
--   duration_ns: execution time
--   grid_x: grid size in x, in blocks
--   grid_y: grid size in y, in blocks
--   grid_z: grid size in z, in blocks
--   block_x: block size in x, in threads
--   block_y: block size in y, in threads
--   block_z: block size in z, in threads
--   register_count: registers per thread
--   shared_bytes: static and dynamic shared memory per block
--   launch_api: API call that launched it; NULL when the launch was not captured
--   launch_start_ns: start of that call
--   launch_duration_ns: time in that call
--   correlation_id: links it to its launch within the process
--   graph_node_id: CUDA graph node; NULL when not launched by a graph
--   kernel_name_id: row of kernel_name and kernel_class
--   range_context_id: set of ranges around the launch, of range_context
--   pass_range_id: range of the stage pass it belongs to, of stage_pass; NULL outside every pass
--   path_id: row of range_path and path_stage
--   op_id: innermost operator that launched it

SELECT
    r.name AS run,
    k.run_id,
    k.source_id,
    coalesce(t.is_counted, false) AS is_counted,
    s.stage,
    x.is_warmup,
    p.path,
    n.name AS kernel,
    n.short_name,
    c.family,
    c.role,
    c.library,
    k.pid,
    k.tid,
    k.device_id,
    k.context_id,
    k.stream_id,
    k.start_ns,
    k.duration_ns,
    h.grid_x,
    h.grid_y,
    h.grid_z,
    h.block_x,
    h.block_y,
    h.block_z,
    h.register_count,
    h.static_shared_bytes + h.dynamic_shared_bytes AS shared_bytes,
    a.name AS launch_api,
    k.launch_start_ns,
    k.launch_duration_ns,
    k.correlation_id,
    k.graph_node_id,
    k.kernel_name_id,
    k.range_context_id,
    x.range_id AS pass_range_id,
    k.path_id,
    k.op_id
FROM kernel k
JOIN run r ON r.run_id = k.run_id
JOIN kernel_name n ON n.run_id = k.run_id AND n.kernel_name_id = k.kernel_name_id
LEFT JOIN kernel_shape h ON h.run_id = k.run_id AND h.kernel_shape_id = k.kernel_shape_id
LEFT JOIN kernel_class c ON c.run_id = k.run_id AND c.kernel_name_id = k.kernel_name_id
LEFT JOIN timeline t ON t.run_id = k.run_id AND t.source_id = k.source_id
LEFT JOIN path_stage s ON s.run_id = k.run_id AND s.path_id = k.path_id
LEFT JOIN range_path p ON p.run_id = k.run_id AND p.path_id = k.path_id
LEFT JOIN pass_context x ON x.run_id = k.run_id AND x.range_context_id = k.range_context_id
LEFT JOIN api_name a ON a.run_id = k.run_id AND a.api_name_id = k.launch_name_id
