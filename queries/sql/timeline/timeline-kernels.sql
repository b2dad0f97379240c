-- timeline-kernels v1: Single kernels, copies, fills and graph replays of a timeline, within the windows of timeline-windows.
-- grain: one kernel, copy, fill or graph replay traced as a whole, in one window
-- key: window, pid, context, stream, lane, start_ns, duration_ns, name
-- notes: graph timelines
-- params:
--   run VARCHAR: the run
--   top BIGINT = 30000: maximum kernels, copies, fills and replays, shared evenly between the windows, but at least one in each; 0 for all
--   {source}
-- columns:
--   window: window number, as in timeline-windows
--   source_id: the source
--   device: GPU
--   pid: process; NULL when the capture has none
--   stream: CUDA stream; NULL when the capture has none
--   lane: kernel, collective, graph (a replay traced as a whole) or copy (a copy or fill), as in timeline-blocks
--   start_ns: start on the GPU, from the start of the source
--   duration_ns: duration
--   name: kernel, copy, fill or graph replay
--   stage: stage that launched it, by stage_rule, warm-up passes included; (none) outside every stage, NULL when the launch was not
--     captured
--   context: CUDA context; NULL when the capture has none
--   tid: thread that launched it; NULL when the launch was not captured
--   launch_start_ns: start of the call that launched it, one of timeline-calls; NULL when the launch was not captured

SELECT
    w.window_id AS "window",
    w.source_id,
    w.device_id AS device,
    w.pid,
    w.stream_id AS stream,
    CASE w.lane_id
        WHEN 1 THEN CASE WHEN c.role = 'collective' THEN 'collective' ELSE 'kernel' END
        WHEN 3 THEN 'graph'
        ELSE 'copy'
    END AS lane,
    w.start_ns,
    w.duration_ns,
    CASE w.lane_id WHEN 1 THEN n.name WHEN 3 THEN 'graph replay' ELSE w.operation END AS name,
    CASE WHEN w.path_id IS NOT NULL THEN coalesce(s.stage, '(none)') END AS stage,
    w.context_id AS context,
    w.tid,
    w.launch_start_ns
FROM _timeline_work(run, top := top, source := source) w
LEFT JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = w.name_id
LEFT JOIN kernel_class c ON c.run_id = n.run_id AND c.kernel_name_id = n.kernel_name_id
LEFT JOIN path_stage s ON s.run_id = run AND s.path_id = w.path_id
ORDER BY w.window_id, w.pid, w.context_id, w.stream_id, w.start_ns, w.duration_ns, w.lane_id, n.name_hash, w.operation,
    w.path_id
