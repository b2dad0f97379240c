-- kernels: Every execution of every kernel of every run, with its names, stage and what the rules say of it.
-- grain: one execution
-- key: run_id, source_id, pid, device_id, stream_id, start_ns, kernel_name_id
-- columns:
--   run: name of the run
--   run_id: its id
--   source_id: the source
--   is_counted: whether its source is counted: add up only these, for a run may hold one timeline of Nsight Systems and another of the PyTorch profiler
--   stage: stage it was launched in, by stage_rule; NULL outside every stage
--   is_warmup: whether the pass of the stage it was launched in is warm-up; NULL outside every pass
--   path: names of the ranges it was launched in, from the outermost in; NULL outside every range
--   kernel: demangled name
--   short_name: base name
--   family: kernel family by kernel_rule; NULL when no rule matches
--   role: what the family does; NULL likewise
--   library: library the family is from; NULL when the rule names none
--   pid: process that launched it
--   tid: thread that launched it; NULL when the launch was not captured
--   device_id: GPU
--   context_id: CUDA context
--   stream_id: CUDA stream
--   start_ns: start on the device
--   duration_ns: execution time
--   grid_x: blocks in x
--   grid_y: blocks in y
--   grid_z: blocks in z
--   block_x: threads of a block in x
--   block_y: threads of a block in y
--   block_z: threads of a block in z
--   register_count: registers of a thread
--   shared_bytes: static and dynamic shared memory of a block
--   launch_api: API call that launched it; NULL when the launch was not captured
--   launch_start_ns: start of that call
--   launch_duration_ns: time in that call
--   correlation_id: ties it to its launch within its process
--   graph_node_id: CUDA graph node; NULL when not launched by a graph
--   kernel_name_id: of kernel_name and kernel_class
--   range_context_id: the set of ranges the launch was made in
--   pass_range_id: the pass of a stage it belongs to, of stage_pass; NULL outside every pass
--   path_id: of range_path and path_stage
--   op_id: innermost operator that launched it

SELECT r.name AS run, k.run_id, k.source_id, coalesce(t.is_counted, false) AS is_counted, s.stage, x.is_warmup, p.path, n.name AS kernel, n.short_name, c.family, c.role, c.library,
    k.pid, k.tid, k.device_id, k.context_id, k.stream_id, k.start_ns, k.duration_ns, k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z, k.register_count,
    k.static_shared_bytes + k.dynamic_shared_bytes AS shared_bytes, a.name AS launch_api, k.launch_start_ns, k.launch_duration_ns, k.correlation_id, k.graph_node_id,
    k.kernel_name_id, k.range_context_id, x.range_id AS pass_range_id, k.path_id, k.op_id
FROM kernel k
JOIN run r ON r.run_id = k.run_id
JOIN kernel_name n ON n.run_id = k.run_id AND n.kernel_name_id = k.kernel_name_id
LEFT JOIN kernel_class c ON c.run_id = k.run_id AND c.kernel_name_id = k.kernel_name_id
LEFT JOIN timeline t ON t.run_id = k.run_id AND t.source_id = k.source_id
LEFT JOIN path_stage s ON s.run_id = k.run_id AND s.path_id = k.path_id
LEFT JOIN range_path p ON p.run_id = k.run_id AND p.path_id = k.path_id
LEFT JOIN pass_context x ON x.run_id = k.run_id AND x.range_context_id = k.range_context_id
LEFT JOIN api_name a ON a.run_id = k.run_id AND a.api_name_id = k.launch_name_id
