-- timeline-windows v2: Windows of a timeline that show single kernels: the whole capture if small enough, else, per stage and GPU, the
--     measured pass with the median span. Of GPUs that work in the same passes it is the same one, by the longest span of each pass.
-- grain: one window of one source on one GPU
-- key: window
-- notes: timelines workload stage
-- params:
--   run VARCHAR: the run
--   top BIGINT = 30000: maximum kernels, copies, fills and graph replays, shared evenly between the windows, but at least one in each; 0
--     for all
--   {source}
-- columns:
--   window: window number, by source, GPU and stage, from 1
--   source_id: the source
--   device: GPU
--   stage: the stage, by stage_rule; NULL when the window is the whole capture, because it is small enough or because no pass was measured
--     on the GPU
--   pass: pass number, as in pass-accounting; NULL when the window is the whole capture
--   start_ns: start of the first device work in the pass or capture, from the start of the source
--   end_ns: end of the last work shown
--   work_count: kernels, copies, fills and graph replays traced as a whole that start on the GPU during the pass or capture, in any range
--   shown_count: how many of them are shown, from the first
--   is_whole: whether the window shows the whole capture on the GPU

SELECT
    w.window_id AS "window",
    w.source_id,
    w.device_id AS device,
    w.stage,
    w.pass,
    w.window_start_ns AS start_ns,
    max(w.start_ns + w.duration_ns) AS end_ns,
    w.work_count,
    count(*) AS shown_count,
    w.is_whole
FROM _timeline_work(run, top := top, source := source) w
GROUP BY w.window_id, w.source_id, w.device_id, w.stage, w.pass, w.window_start_ns, w.work_count, w.is_whole
ORDER BY w.window_id
