-- timeline-windows v1: Which stretches of a capture a timeline shows kernel by kernel: all of it where that is not too much, else of each stage on each GPU the measured pass whose span is the median.
-- grain: one stretch of one source on one GPU
-- key: window
-- notes: timelines workload stage
-- params:
--   run VARCHAR: the run
--   top BIGINT = 30000: kernels, copies, fills and graph replays at most, shared evenly between the windows, but at least one in each; 0 for all
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   window: 1, 2, ... by source, GPU and stage
--   source_id: the source
--   device: GPU
--   stage: the stage, by stage_rule; NULL where the window is the capture, as all of it is shown or no pass was measured on the GPU
--   pass: the pass, numbered as in pass-accounting; NULL likewise
--   start_ns: start of the first device work of the pass or capture, from the start of the source
--   end_ns: end of the last that is shown
--   work_count: kernels, copies, fills and graph replays traced as a whole that begin on the GPU in the pass or capture, of whatever range
--   shown_count: the first of them, which are shown
--   is_whole: whether all of the capture on the GPU is shown

SELECT w.window_id AS "window", w.source_id, w.device_id AS device, w.stage, w.pass, w.window_start_ns AS start_ns, max(w.start_ns + w.duration_ns) AS end_ns, w.work_count, count(*) AS shown_count, w.is_whole
FROM _timeline_work(run, top := top, source := source) w
GROUP BY w.window_id, w.source_id, w.device_id, w.stage, w.pass, w.window_start_ns, w.work_count, w.is_whole
ORDER BY w.window_id
