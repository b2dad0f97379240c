-- timeline-work v1: Device work that starts at a time or was launched by one call, with all that the capture has of it.
-- grain: one kernel, copy, fill or graph replay traced as a whole
-- key: source_id, device, pid, context, stream, start_ns, lane, name, duration_ns
-- notes: launch
-- params:
--   run VARCHAR: the run
--   of_source BIGINT = 1: the source
--   device BIGINT = NULL: only this GPU
--   start_time BIGINT = NULL: only what starts then, from the start of the source
--   pid BIGINT = NULL: only of this process
--   tid BIGINT = NULL: only what this thread launched
--   launch_time BIGINT = NULL: only what a call that starts then launched
--   top BIGINT = 20: maximum rows, the first in time; 0 for all
-- columns:
--   source_id: the source
--   device: GPU
--   pid: process; NULL when the capture has none
--   context: CUDA context; NULL when the capture has none
--   stream: CUDA stream; NULL when the capture has none
--   lane: kernel, collective, graph (a replay traced as a whole) or copy (a copy or fill)
--   name: kernel, operation of a copy or fill, or graph replay
--   start_ns: start on the GPU, from the start of the source
--   duration_ns: duration
--   family: kernel family by kernel_rule; NULL when no rule matches, and for other work
--   grid: grid size in blocks, x * y * z; NULL when the capture has none, and for other work
--   block: block size in threads, x * y * z; NULL likewise
--   register_count: registers per thread; NULL likewise
--   shared_bytes: static and dynamic shared memory per block; NULL likewise
--   size_bytes: bytes copied or filled; NULL for other work
--   stage: stage that launched it, by stage_rule; (none) outside every stage, NULL when the launch was not captured
--   pass: number of the pass that launched it; NULL outside every pass
--   range: normalised names of the ranges that launched it, outermost first; NULL outside every range, or when the launch was not captured
--   operator: operator that launched it; NULL when none is known
--   tid: thread that launched it; NULL when the launch was not captured
--   api: function of the call that launched it; NULL likewise
--   launch_start_ns: start of that call, from the start of the source; NULL likewise
--   launch_duration_ns: time in that call; NULL likewise
--   work_count: rows without the bound on them

SELECT
    w.source_id,
    w.device,
    w.pid,
    w.context,
    w.stream,
    CASE w.kind_id
        WHEN 1 THEN CASE WHEN c.role = 'collective' THEN 'collective' ELSE 'kernel' END
        WHEN 3 THEN 'graph'
        ELSE 'copy'
    END AS lane,
    CASE w.kind_id WHEN 1 THEN n.name WHEN 3 THEN 'graph replay' ELSE w.operation END AS name,
    w.start_ns,
    w.duration_ns,
    c.family,
    _dims(h.grid_x, h.grid_y, h.grid_z) AS grid,
    _dims(h.block_x, h.block_y, h.block_z) AS block,
    h.register_count::BIGINT AS register_count,
    (h.static_shared_bytes + h.dynamic_shared_bytes)::BIGINT AS shared_bytes,
    w.size_bytes,
    CASE WHEN w.path_id IS NOT NULL THEN coalesce(s.stage, '(none)') END AS stage,
    w.pass,
    p.path AS range,
    x.name AS operator,
    w.tid,
    a.name AS api,
    w.launch_start_ns,
    w.launch_duration_ns,
    w.work_count
FROM (
    SELECT
        of_source AS source_id,
        w.device_id AS device,
        w.pid,
        w.context_id AS context,
        w.stream_id AS stream,
        w.kind_id,
        w.name_id,
        w.operation,
        w.start_ns,
        w.duration_ns,
        w.shape_id,
        w.size_bytes,
        w.path_id,
        w.pass_id AS pass,
        w.op_id,
        w.tid,
        w.launch_name_id,
        w.launch_start_ns,
        w.launch_duration_ns,
        count(*) OVER (PARTITION BY w.is_shown) AS work_count
    FROM _trace_piece(run, of_source := of_source, device := device) w
    WHERE w.is_shown
        AND (start_time IS NULL OR w.start_ns = start_time)
        AND (pid IS NULL OR w.pid = pid)
        AND (tid IS NULL OR w.tid = tid)
        AND (launch_time IS NULL OR w.launch_start_ns = launch_time)
    QUALIFY top = 0
        OR row_number() OVER (
            PARTITION BY w.is_shown
            ORDER BY w.start_ns, w.duration_ns, w.device_id, w.pid, w.context_id, w.stream_id, w.correlation_id,
                w.graph_node_id, w.flow_id
        )
            <= top
) w
LEFT JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = w.name_id
LEFT JOIN kernel_class c ON c.run_id = run AND c.kernel_name_id = w.name_id
LEFT JOIN kernel_shape h ON h.run_id = run AND h.kernel_shape_id = w.shape_id
LEFT JOIN path_stage s ON s.run_id = run AND s.path_id = w.path_id
LEFT JOIN range_path p ON p.run_id = run AND p.path_id = w.path_id
LEFT JOIN op o ON o.run_id = run AND o.op_id = w.op_id
LEFT JOIN op_name x ON x.run_id = run AND x.op_name_id = o.op_name_id
LEFT JOIN api_name a ON a.run_id = run AND a.api_name_id = w.launch_name_id
ORDER BY w.start_ns, w.device, w.pid, w.context, w.stream, lane, name, w.duration_ns
