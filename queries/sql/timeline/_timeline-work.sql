-- _timeline-work: The single pieces of device work in timeline windows: a whole capture, or one pass per stage, from its start.
-- grain: one kernel, copy, fill or graph replay traced as a whole, in one window
-- key: window_id, lane_id, pid, context_id, stream_id, start_ns, duration_ns, name_id, operation, path_id
-- params:
--   run VARCHAR: the run
--   top BIGINT = 30000: maximum pieces, shared evenly between the windows, but at least one in each; 0 for all
--   {source}
-- columns:
--   window_id: window number, by source, GPU and stage, from 1
--   source_id: the source
--   device_id: GPU
--   stage: stage of the window's pass; NULL when the window is the whole capture
--   pass: number of the window's pass; NULL when the window is the whole capture
--   window_start_ns: start of the first device work in the window
--   work_count: pieces that start in the pass or capture
--   is_whole: whether the window shows the whole capture on the GPU
--   lane_id: 1 kernel, 3 graph, 4 copy or fill
--   pid: process; NULL when the capture has none
--   context_id: CUDA context
--   stream_id: CUDA stream
--   path_id: path of the ranges that launched it; 0 outside every range, NULL when the launch was not captured
--   name_id: its kernel_name_id; NULL for copies, fills and replays
--   operation: operation of a copy or fill; NULL for other work
--   start_ns: start on the GPU
--   duration_ns: duration
--   tid: thread that launched it; NULL when the launch was not captured
--   launch_start_ns: start of the call that launched it; NULL, as in the next two columns, when the launch was not captured
--   launch_duration_ns: time in that call
--   launch_name_id: function of that call

-- Millions of kernels are only ever counted: what is sorted or joined with names is what is shown, and in the part of the window in which
-- the last of it begins.
WITH asked AS (
    SELECT CASE
        WHEN top < 0 THEN error('ARGUMENT: --top is 0 or more')::BOOLEAN
        ELSE top = 0 OR sum(w.launch_count) <= top
    END AS is_all
    FROM work_sum w
    WHERE w.run_id = run AND w.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
), counted AS ( -- what passes are on several GPUs, and how long on the one where they are longest
    SELECT
        d.source_id,
        d.device_id,
        d.stage,
        d.pass_id,
        d.range_id,
        d.start_ns,
        d.span_ns,
        a.is_all,
        count(*) OVER (PARTITION BY d.source_id, d.stage, d.pass_id) AS gpu_count,
        max(d.span_ns) OVER (PARTITION BY d.source_id, d.stage, d.pass_id) AS longest_ns
    FROM device_part d CROSS JOIN asked a
    WHERE d.run_id = run
        AND d.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND NOT d.is_warmup
        AND (d.range_id IS NULL OR NOT a.is_all)
), widest AS ( -- those on the most GPUs
    SELECT
        d.source_id,
        d.device_id,
        d.stage,
        d.pass_id,
        d.range_id,
        d.start_ns,
        d.span_ns,
        d.is_all,
        d.longest_ns
    FROM counted d
    QUALIFY d.gpu_count = max(d.gpu_count) OVER (PARTITION BY d.source_id, d.device_id, d.stage)
), place AS ( -- the whole of a source on a GPU, or of each stage there the median pass: the same one on GPUs that share its passes
    SELECT
        d.source_id,
        d.device_id,
        CASE WHEN d.range_id IS NOT NULL THEN d.stage END AS stage,
        d.pass_id AS pass,
        d.start_ns,
        d.start_ns + d.span_ns AS last_ns,
        d.span_ns // 1000 + 1 AS part_ns,
        d.is_all
    FROM (
        SELECT
            d.source_id,
            d.device_id,
            d.stage,
            d.pass_id,
            d.range_id,
            d.start_ns,
            d.span_ns,
            d.is_all,
            d.longest_ns,
            quantile_disc(d.longest_ns, 0.5) OVER (PARTITION BY d.source_id, d.device_id, d.stage) AS middle_ns
        FROM widest d
    ) d
    WHERE d.longest_ns = d.middle_ns
    QUALIFY row_number() OVER (PARTITION BY d.source_id, d.device_id, d.stage ORDER BY d.pass_id, d.start_ns, d.range_id) = 1
        AND (d.range_id IS NOT NULL OR count(d.range_id) OVER (PARTITION BY d.source_id, d.device_id) = 0)
), win AS MATERIALIZED (
    SELECT
        row_number() OVER (
            ORDER BY p.source_id, p.device_id, array_position(['prefill', 'decode'], p.stage) NULLS LAST, p.stage
        ) AS window_id,
        p.source_id,
        p.device_id,
        p.stage,
        p.pass,
        p.start_ns,
        p.last_ns,
        p.part_ns,
        CASE WHEN p.is_all THEN 9223372036854775807 ELSE greatest(top // (SELECT count(*) FROM place), 1) END AS quota
    FROM place p
), part AS (
    SELECT
        w.window_id,
        (x.start_ns - w.start_ns) // w.part_ns AS part,
        any_value(w.quota) AS quota,
        count(*) AS work_count
    FROM _timeline_piece(run) x
    JOIN win w
        ON w.source_id = x.source_id AND w.device_id = x.device_id AND x.start_ns BETWEEN w.start_ns AND w.last_ns
    GROUP BY w.window_id, (x.start_ns - w.start_ns) // w.part_ns
), cut AS ( -- the part in which the quota is reached: what begins before it is shown, and of what begins in it the first
    SELECT
        p.window_id,
        max(p.part) FILTER (p.before_count < p.quota) AS part,
        max(p.before_count) FILTER (p.before_count < p.quota) AS before_count,
        sum(p.work_count)::BIGINT AS work_count
    FROM (
        SELECT
            p.window_id,
            p.part,
            p.quota,
            p.work_count,
            sum(p.work_count) OVER (PARTITION BY p.window_id ORDER BY p.part) - p.work_count AS before_count
        FROM part p
    ) p
    GROUP BY p.window_id
), near AS (
    SELECT
        w.window_id,
        w.source_id,
        w.device_id,
        w.stage,
        w.pass,
        w.start_ns AS window_start_ns,
        c.work_count,
        w.stage IS NULL AND c.work_count <= w.quota AS is_whole,
        x.start_ns >= w.start_ns + c.part * w.part_ns AS is_last,
        w.quota - c.before_count AS rest_count,
        x.lane_id,
        x.pid,
        x.context_id,
        x.stream_id,
        x.path_id,
        x.name_id,
        x.operation,
        x.start_ns,
        x.duration_ns,
        x.tid,
        x.launch_start_ns,
        x.launch_duration_ns,
        x.launch_name_id
    FROM win w
    JOIN cut c ON c.window_id = w.window_id
    JOIN _timeline_piece(run) x
        ON x.source_id = w.source_id
        AND x.device_id = w.device_id
        AND x.start_ns BETWEEN w.start_ns AND least(w.last_ns, w.start_ns + (c.part + 1) * w.part_ns - 1)
)
SELECT
    n.window_id,
    n.source_id,
    n.device_id,
    n.stage,
    n.pass,
    n.window_start_ns,
    n.work_count,
    n.is_whole,
    n.lane_id,
    n.pid,
    n.context_id,
    n.stream_id,
    n.path_id,
    n.name_id,
    n.operation,
    n.start_ns,
    n.duration_ns,
    n.tid,
    n.launch_start_ns,
    n.launch_duration_ns,
    n.launch_name_id
FROM near n
QUALIFY NOT n.is_last
    OR row_number() OVER (
        PARTITION BY n.window_id, n.is_last
        ORDER BY n.start_ns, n.duration_ns, n.lane_id, n.pid, n.context_id, n.stream_id, n.name_id, n.operation,
            n.path_id
    )
        <= n.rest_count
