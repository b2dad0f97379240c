-- _timeline-work: The pieces of device work that a timeline shows one by one: all of a capture, or of each stage one pass, from its start on.
-- grain: one kernel, copy, fill or graph replay traced as a whole, in one window
-- key: window_id, lane_id, pid, context_id, stream_id, start_ns, duration_ns, name_id, operation, path_id
-- params:
--   run VARCHAR: the run
--   top BIGINT = 30000: pieces at most, shared evenly between the windows, but at least one in each; 0 for all
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   window_id: 1, 2, ... by source, GPU and stage
--   source_id: the source
--   device_id: GPU
--   stage: stage of the window's pass; NULL where the window is the whole capture
--   pass: number of the window's pass; NULL likewise
--   window_start_ns: start of the first device work of the window
--   work_count: pieces that begin in the pass or capture
--   is_whole: whether all work of the capture on the GPU is shown
--   lane_id: 1 kernel, 3 graph, 4 copy or fill
--   pid: process; NULL when the capture does not say
--   context_id: CUDA context
--   stream_id: CUDA stream
--   path_id: path of names of the ranges it was launched in; 0 outside every range, NULL when its launch was not captured
--   name_id: its kernel_name_id; NULL of copies, fills and replays
--   operation: of a copy or fill; NULL of others
--   start_ns: start on the device
--   duration_ns: time it took

-- Millions of kernels are only ever counted: what is sorted or joined with names is what is shown, and in the part of the window in which the last of it begins.
WITH used AS MATERIALIZED (
    SELECT u.source_id, u.device_id, u.work_count, u.start_ns, u.last_ns
    FROM (SELECT x.source_id, x.device_id, count(*) AS work_count, min(x.start_ns) AS start_ns, max(x.start_ns) AS last_ns FROM _timeline_piece(run) x GROUP BY x.source_id, x.device_id) u
    JOIN _timeline(run, source := source) t ON t.source_id = u.source_id
), asked AS MATERIALIZED (
    SELECT CASE WHEN top < 0 THEN error('ARGUMENT: --top is 0 or more')::BOOLEAN ELSE top = 0 OR sum(u.work_count) <= top END AS is_all FROM used u
), pass AS (
    SELECT s.source_id, d.device_id, s.stage, s.pass, s.range_id, d.first_start_ns AS start_ns, d.last_end_ns AS end_ns, d.last_end_ns - d.first_start_ns AS span_ns
    FROM (SELECT p.source_id, p.stage, p.range_id, p.is_warmup, row_number() OVER (PARTITION BY p.stage, p.source_id, p.pid ORDER BY p.start_ns, p.range_id) AS pass FROM _stage_pass(run, source := source) p) s
    JOIN range_device d ON d.run_id = run AND d.range_id = s.range_id
    WHERE NOT s.is_warmup AND NOT (SELECT a.is_all FROM asked a)
), middle AS (
    SELECT p.source_id, p.device_id, p.stage, quantile_disc(p.span_ns, 0.5) AS span_ns FROM pass p GROUP BY p.source_id, p.device_id, p.stage
), chosen AS (
    SELECT p.source_id, p.device_id, p.stage, arg_min(struct_pack(pass := p.pass, start_ns := p.start_ns, end_ns := p.end_ns), (p.start_ns, p.range_id)) AS pass
    FROM pass p JOIN middle m ON m.source_id = p.source_id AND m.device_id = p.device_id AND m.stage = p.stage AND m.span_ns = p.span_ns
    GROUP BY p.source_id, p.device_id, p.stage
), place AS (
    SELECT u.source_id, u.device_id, c.stage, c.pass.pass, coalesce(c.pass.start_ns, u.start_ns) AS start_ns, coalesce(c.pass.end_ns, u.last_ns) AS last_ns
    FROM used u LEFT JOIN chosen c ON c.source_id = u.source_id AND c.device_id = u.device_id
), win AS MATERIALIZED (
    SELECT row_number() OVER (ORDER BY p.source_id, p.device_id, array_position(['prefill', 'decode'], p.stage) NULLS LAST, p.stage) AS window_id, p.source_id, p.device_id, p.stage, p.pass, p.start_ns, p.last_ns,
        (p.last_ns - p.start_ns) // 1000 + 1 AS part_ns, CASE WHEN (SELECT a.is_all FROM asked a) THEN 9223372036854775807 ELSE greatest(top // (SELECT count(*) FROM place), 1) END AS quota
    FROM place p
), part AS (
    SELECT w.window_id, (x.start_ns - w.start_ns) // w.part_ns AS part, count(*) AS work_count
    FROM _timeline_piece(run) x JOIN win w ON w.source_id = x.source_id AND w.device_id = x.device_id AND x.start_ns BETWEEN w.start_ns AND w.last_ns GROUP BY ALL
), cut AS ( -- the part in which the quota is reached: what begins before it is shown, and of what begins in it the first
    SELECT w.window_id, w.source_id, w.device_id, w.stage, w.pass, w.start_ns, w.start_ns + u.part * w.part_ns AS cut_ns, least(w.last_ns, w.start_ns + (u.part + 1) * w.part_ns - 1) AS last_ns,
        u.work_count, w.quota, w.quota - u.before_count AS rest_count
    FROM win w JOIN (
        SELECT u.window_id, max(u.part) FILTER (u.is_shown) AS part, max(u.before_count) FILTER (u.is_shown) AS before_count, sum(u.work_count)::BIGINT AS work_count
        FROM (
            SELECT p.window_id, p.part, p.work_count, sum(p.work_count) OVER (PARTITION BY p.window_id ORDER BY p.part) - p.work_count AS before_count, before_count < w.quota AS is_shown
            FROM part p JOIN win w ON w.window_id = p.window_id
        ) u GROUP BY u.window_id
    ) u ON u.window_id = w.window_id
), near AS MATERIALIZED (
    SELECT c.window_id, c.source_id, c.device_id, c.stage, c.pass, c.start_ns AS window_start_ns, c.work_count, c.stage IS NULL AND c.work_count <= c.quota AS is_whole, x.start_ns >= c.cut_ns AS is_last, c.rest_count,
        x.lane_id, x.pid, x.context_id, x.stream_id, x.path_id, x.name_id, x.operation, x.start_ns, x.duration_ns
    FROM _timeline_piece(run) x JOIN cut c ON c.source_id = x.source_id AND c.device_id = x.device_id AND x.start_ns BETWEEN c.start_ns AND c.last_ns
)
SELECT n.window_id, n.source_id, n.device_id, n.stage, n.pass, n.window_start_ns, n.work_count, n.is_whole, n.lane_id, n.pid, n.context_id, n.stream_id, n.path_id, n.name_id, n.operation, n.start_ns, n.duration_ns
FROM near n WHERE NOT n.is_last
UNION ALL
SELECT n.window_id, n.source_id, n.device_id, n.stage, n.pass, n.window_start_ns, n.work_count, n.is_whole, n.lane_id, n.pid, n.context_id, n.stream_id, n.path_id, n.name_id, n.operation, n.start_ns, n.duration_ns
FROM near n WHERE n.is_last
QUALIFY row_number() OVER (PARTITION BY n.window_id ORDER BY n.start_ns, n.duration_ns, n.lane_id, n.pid, n.context_id, n.stream_id, n.name_id, n.operation, n.path_id) <= n.rest_count
