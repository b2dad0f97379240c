-- concurrency v1: How much CUDA streams overlap, by stage. Warm-up counts too: passes are not told apart yet.
-- grain: one stream of one process on one GPU in one stage
-- key: stage, device, source_id, pid, context, stream
-- notes: graph timelines launch warm
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage; (none) for work outside every stage
--   device BIGINT = NULL: only this GPU
--   {source}
-- columns:
--   stage: the stage that launched the work, by stage_rule, warm-up passes included; (none) outside every stage
--   device: GPU
--   stream: CUDA stream; NULL when the capture has none
--   work_count: kernels, copies, fills and graph replays traced as a whole
--   busy_ns: GPU busy time of the stream: union of its work's intervals
--   share_ratio: busy_ns as a share of stage_busy_ns
--   overlap_ns: part of busy_ns in which work of another stream or stage ran on the GPU too
--   overlap_ratio: overlap_ns as a share of busy_ns; NULL when that is 0
--   concurrency_count: mean work items of the stage that ran at once while any ran: sum of durations / stage_busy_ns; 1 without overlap;
--     NULL when stage_busy_ns is 0
--   stage_busy_ns: GPU busy time of the stage, all streams of the source together
--   sum_ns: sum of the durations
--   source_id: the source
--   pid: process
--   context: CUDA context; NULL when the capture has none

-- Long: a sweep over the starts and ends of kernels, copies and replays, in lanes. Work that meets no other, which is most, needs no more
-- than one look along each GPU. The rest is swept: a lane (a stream in a stage) is open while work of it runs; lanes are numbered, and
-- while one alone is open the sum of the numbers of those open is its.
WITH work AS (
    SELECT
        k.run_id,
        k.source_id,
        k.pid,
        k.device_id,
        k.context_id,
        k.stream_id,
        k.path_id,
        k.start_ns,
        k.duration_ns
    FROM kernel k
    UNION ALL
    SELECT
        m.run_id,
        m.source_id,
        m.pid,
        m.device_id,
        m.context_id,
        m.stream_id,
        m.path_id,
        m.start_ns,
        m.duration_ns
    FROM memop m
    UNION ALL
    SELECT
        g.run_id,
        g.source_id,
        g.pid,
        g.device_id,
        g.context_id,
        g.stream_id,
        g.path_id,
        g.start_ns,
        g.duration_ns
    FROM graph_launch g
    WHERE g.mode = 'graph'
), met AS (
    SELECT
        w.source_id,
        w.pid,
        w.device_id,
        w.context_id,
        w.stream_id,
        w.path_id,
        w.start_ns,
        w.start_ns + w.duration_ns AS end_ns,
        coalesce(
            max(w.start_ns + w.duration_ns) OVER (d ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) > w.start_ns,
            false
        )
        OR coalesce(lead(w.start_ns) OVER d < w.start_ns + w.duration_ns, false) AS meets
    FROM work w
    WHERE w.run_id = run
        AND w.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND (device IS NULL OR w.device_id = device)
    WINDOW d AS (PARTITION BY w.source_id, w.device_id ORDER BY w.start_ns)
), few AS ( -- what meets nothing is one row of each stream and path
    SELECT
        m.source_id,
        m.pid,
        m.device_id,
        m.context_id,
        m.stream_id,
        m.path_id,
        m.meets,
        CASE WHEN m.meets THEN m.start_ns END AS start_ns,
        CASE WHEN m.meets THEN m.end_ns END AS end_ns,
        count(*) AS work_count,
        sum(m.end_ns - m.start_ns)::BIGINT AS sum_ns
    FROM met m
    GROUP BY ALL
), laned AS (
    SELECT
        dense_rank() OVER (
            ORDER BY f.source_id, f.pid, f.device_id, f.context_id, f.stream_id, coalesce(s.stage, '(none)')
        ) AS lane,
        f.source_id,
        f.pid,
        f.device_id,
        f.context_id,
        f.stream_id,
        coalesce(s.stage, '(none)') AS stage,
        f.meets,
        f.start_ns,
        f.end_ns,
        f.work_count,
        f.sum_ns
    FROM few f LEFT JOIN path_stage s ON s.run_id = run AND s.path_id = f.path_id
), edge AS (
    SELECT
        l.lane,
        l.source_id,
        l.device_id,
        l.stage,
        l.start_ns AS at_ns,
        1 AS step
    FROM laned l
    WHERE l.meets
    UNION ALL
    SELECT l.lane, l.source_id, l.device_id, l.stage, l.end_ns, -1
    FROM laned l
    WHERE l.meets
), turn AS ( -- at the same time work begins before other work ends, so that a lane stays open
    SELECT x.lane, x.source_id, x.device_id, x.stage, x.at_ns, x.step
    FROM (
        SELECT
            e.lane,
            e.source_id,
            e.device_id,
            e.stage,
            e.at_ns,
            e.step,
            sum(e.step) OVER (PARTITION BY e.lane ORDER BY e.at_ns, e.step DESC ROWS UNBOUNDED PRECEDING) AS open
        FROM edge e
    ) x
    WHERE x.open = CASE x.step WHEN 1 THEN 1 ELSE 0 END
), swept AS (
    SELECT
        t.source_id,
        t.device_id,
        t.stage,
        t.at_ns,
        t.step,
        sum(t.step) OVER d AS open,
        sum(t.step * t.lane) OVER d AS lane,
        lead(t.at_ns) OVER d - t.at_ns AS ns,
        sum(t.step) OVER (
            PARTITION BY t.source_id, t.device_id, t.stage
            ORDER BY t.at_ns, t.step DESC
            ROWS UNBOUNDED PRECEDING
        ) AS stage_open
    FROM turn t
    WINDOW d AS (PARTITION BY t.source_id, t.device_id ORDER BY t.at_ns, t.step DESC, t.lane ROWS UNBOUNDED PRECEDING)
), alone AS (
    SELECT
        s.lane,
        sum(s.ns) AS ns
    FROM swept s
    WHERE s.open = 1
    GROUP BY s.lane
), opened AS (
    SELECT
        t.lane,
        sum(-t.step * t.at_ns) AS ns
    FROM turn t
    GROUP BY t.lane
), stage_opened AS (
    SELECT
        s.source_id,
        s.device_id,
        s.stage,
        sum(-s.step * s.at_ns) AS ns
    FROM swept s
    WHERE s.stage_open = CASE s.step WHEN 1 THEN 1 ELSE 0 END
    GROUP BY s.source_id, s.device_id, s.stage
), lane AS (
    SELECT
        l.lane,
        l.source_id,
        l.pid,
        l.device_id,
        l.context_id,
        l.stream_id,
        l.stage,
        sum(l.work_count)::BIGINT AS work_count,
        sum(l.sum_ns)::BIGINT AS sum_ns,
        coalesce(sum(l.sum_ns) FILTER (NOT l.meets), 0) AS single_ns
    FROM laned l
    GROUP BY l.lane, l.source_id, l.pid, l.device_id, l.context_id, l.stream_id, l.stage
), q AS (
    SELECT
        l.source_id,
        l.pid,
        l.device_id,
        l.context_id,
        l.stream_id,
        l.stage,
        l.work_count,
        l.sum_ns,
        (l.single_ns + coalesce(o.ns, 0))::BIGINT AS busy_ns,
        (coalesce(o.ns, 0) - coalesce(a.ns, 0))::BIGINT AS overlap_ns,
        (sum(l.single_ns) OVER stage + coalesce(s.ns, 0))::BIGINT AS stage_busy_ns,
        sum(l.sum_ns) OVER stage AS stage_sum_ns
    FROM lane l
    LEFT JOIN opened o ON o.lane = l.lane
    LEFT JOIN alone a ON a.lane = l.lane
    LEFT JOIN stage_opened s ON s.source_id = l.source_id AND s.device_id = l.device_id AND s.stage = l.stage
    WINDOW stage AS (PARTITION BY l.source_id, l.device_id, l.stage)
)
SELECT
    q.stage,
    q.device_id AS device,
    q.stream_id AS stream,
    q.work_count,
    q.busy_ns,
    q.busy_ns / nullif(q.stage_busy_ns, 0) AS share_ratio,
    q.overlap_ns,
    q.overlap_ns / nullif(q.busy_ns, 0) AS overlap_ratio,
    q.stage_sum_ns / nullif(q.stage_busy_ns, 0) AS concurrency_count,
    q.stage_busy_ns,
    q.sum_ns,
    q.source_id,
    q.pid,
    q.context_id AS context
FROM q
WHERE stage IS NULL OR q.stage = stage
ORDER BY array_position(['prefill', 'decode'], q.stage) NULLS LAST, q.stage = '(none)', q.stage, q.device_id,
    q.source_id, q.busy_ns DESC, q.pid, q.context_id, q.stream_id
