-- _step-work: Device work of the sources without step ranges: what steps are sought in.
-- grain: one kernel, copy, fill or graph replay
-- key: source_id, pid, device_id, stream_id, start_ns, is_replay, work_id
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only this GPU
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   source_id: the source
--   pid: process; NULL when the launch was not captured
--   device_id: GPU
--   start_ns: start on the device
--   duration_ns: time it took; 0 for a replay whose kernels were traced, which have rows of their own
--   is_replay: whether it is a graph replay
--   work_id: kernel_name_id of a kernel; of a replay its graph, or what it holds where that is not said; NULL for a copy or fill
--   stream_id: stream; NULL for a replay whose kernels were traced
--   path_id: path of names of the ranges that it was launched in

WITH counted AS (
    SELECT t.source_id FROM _timeline(run, source := source) t
    WHERE t.source_id NOT IN (SELECT n.source_id FROM nvtx_range n WHERE n.run_id = run AND n.path_id IN (SELECT p.path_id FROM _step_path(run) p))
)
SELECT k.source_id, k.pid, k.device_id, k.start_ns, k.duration_ns, false AS is_replay, k.kernel_name_id AS work_id, k.stream_id, k.path_id
FROM kernel k WHERE k.run_id = run AND k.source_id IN (SELECT c.source_id FROM counted c) AND (device IS NULL OR k.device_id = device)
UNION ALL
SELECT m.source_id, m.pid, m.device_id, m.start_ns, m.duration_ns, false, NULL, m.stream_id, m.path_id
FROM memop m WHERE m.run_id = run AND m.source_id IN (SELECT c.source_id FROM counted c) AND (device IS NULL OR m.device_id = device)
UNION ALL
SELECT g.source_id, g.pid, g.device_id, g.start_ns, CASE g.mode WHEN 'graph' THEN g.duration_ns ELSE 0 END, true, coalesce(g.graph_id, g.kernel_count * 1000 + g.memop_count, 0), g.stream_id, g.path_id
FROM graph_launch g WHERE g.run_id = run AND g.source_id IN (SELECT c.source_id FROM counted c) AND (device IS NULL OR g.device_id = device)
