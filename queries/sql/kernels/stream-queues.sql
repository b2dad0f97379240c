-- stream-queues v1: How far launches run ahead of the GPU by stream: work launched and not yet begun, and time in which the queue was empty
--     or full. Warm-up counts too: a queue is one, from the first launch to the last work.
-- grain: one stream of one process on one GPU
-- key: source_id, pid, device, context, stream
-- notes: graph timelines launch warm recorded
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only this GPU
--   full_count BIGINT = 1024: length at which the queue counts as full: from about 1,024 on, launches block; HTA uses this value too
--   {source}
-- columns:
--   device: GPU
--   stream: CUDA stream; NULL when the capture has none
--   work_count: kernels, copies, fills and graph replays traced as a whole, with a captured launch; replays traced by node are not counted:
--     they name no stream
--   mean_count: mean length of the queue, over time: work whose launch has begun, and which has not begun to run
--   max_count: greatest length
--   p50_count: length that was not exceeded in half of the time
--   p95_count: length that was not exceeded in 95 % of the time
--   empty_ratio: share of the time in which nothing was queued
--   full_ns: time in which full_count or more were queued
--   time_ns: from the first launch to the start of the last work
--   empty_ns: time in which nothing was queued: the GPU works on what it has, or is idle
--   full_launch_count: launches that began when full_count or more were queued
--   source_id: the source
--   pid: process
--   context: CUDA context; NULL when the capture has none

-- Kernels of a replay have its one launch, and traces of PyTorch name no nodes: the name of the call says what it launches.
-- A launch that is recorded after the start of its work, by clocks that differ a little, counts from that start.
WITH replay AS (
    SELECT a.api_name_id
    FROM api_name a
    WHERE a.run_id = run AND contains(a.name, 'GraphLaunch')
), w AS (
    SELECT k.source_id, k.pid, k.device_id, k.context_id, k.stream_id, k.launch_start_ns, k.start_ns
    FROM kernel k
    WHERE k.run_id = run
        AND k.graph_node_id IS NULL
        AND k.launch_start_ns IS NOT NULL
        AND k.launch_name_id NOT IN (SELECT r.api_name_id FROM replay r)
        AND k.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND (device IS NULL OR k.device_id = device)
    UNION ALL
    SELECT m.source_id, m.pid, m.device_id, m.context_id, m.stream_id, m.launch_start_ns, m.start_ns
    FROM memop m
    WHERE m.run_id = run
        AND m.graph_node_id IS NULL
        AND m.launch_start_ns IS NOT NULL
        AND m.launch_name_id NOT IN (SELECT r.api_name_id FROM replay r)
        AND m.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND (device IS NULL OR m.device_id = device)
    UNION ALL
    SELECT g.source_id, g.pid, g.device_id, g.context_id, g.stream_id, g.launch_start_ns, g.start_ns
    FROM graph_launch g
    WHERE g.run_id = run
        AND g.mode = 'graph'
        AND g.launch_start_ns IS NOT NULL
        AND g.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND (device IS NULL OR g.device_id = device)
), e AS (
    SELECT
        w.source_id,
        w.pid,
        w.device_id,
        w.context_id,
        w.stream_id,
        least(w.launch_start_ns, w.start_ns) AS at_ns,
        1 AS step
    FROM w
    UNION ALL
    SELECT w.source_id, w.pid, w.device_id, w.context_id, w.stream_id, w.start_ns, -1
    FROM w
), l AS (
    SELECT
        e.source_id,
        e.pid,
        e.device_id,
        e.context_id,
        e.stream_id,
        e.step,
        sum(e.step) OVER (s ROWS UNBOUNDED PRECEDING)::BIGINT AS length,
        lead(e.at_ns) OVER s - e.at_ns AS ns
    FROM e
    WINDOW s AS (PARTITION BY e.source_id, e.pid, e.device_id, e.context_id, e.stream_id ORDER BY e.at_ns, e.step DESC)
), q AS (
    SELECT
        l.source_id,
        l.pid,
        l.device_id,
        l.context_id,
        l.stream_id,
        l.length,
        coalesce(sum(l.ns), 0)::BIGINT AS ns,
        count(*) FILTER (l.step = 1) AS launches
    FROM l
    GROUP BY l.source_id, l.pid, l.device_id, l.context_id, l.stream_id, l.length
), c AS (
    SELECT
        q.source_id,
        q.pid,
        q.device_id,
        q.context_id,
        q.stream_id,
        q.length,
        q.ns,
        q.launches,
        sum(q.ns) OVER (
            PARTITION BY q.source_id, q.pid, q.device_id, q.context_id, q.stream_id
            ORDER BY q.length
        ) AS up_ns,
        sum(q.ns) OVER (PARTITION BY q.source_id, q.pid, q.device_id, q.context_id, q.stream_id) AS all_ns
    FROM q
)
SELECT
    c.device_id AS device,
    c.stream_id AS stream,
    sum(c.launches)::BIGINT AS work_count,
    sum(c.length * c.ns) / nullif(any_value(c.all_ns), 0) AS mean_count,
    max(c.length) AS max_count,
    min(c.length) FILTER (2 * c.up_ns >= c.all_ns) AS p50_count,
    min(c.length) FILTER (100 * c.up_ns >= 95 * c.all_ns) AS p95_count,
    coalesce(sum(c.ns) FILTER (c.length = 0), 0) / nullif(any_value(c.all_ns), 0) AS empty_ratio,
    coalesce(sum(c.ns) FILTER (c.length >= full_count), 0)::BIGINT AS full_ns,
    any_value(c.all_ns)::BIGINT AS time_ns,
    coalesce(sum(c.ns) FILTER (c.length = 0), 0)::BIGINT AS empty_ns,
    coalesce(sum(c.launches) FILTER (c.length > full_count), 0)::BIGINT AS full_launch_count,
    c.source_id,
    c.pid,
    c.context_id AS context
FROM c
WHERE CASE WHEN full_count < 1 THEN error('ARGUMENT: --full-count is 1 or more')::BOOLEAN ELSE true END
GROUP BY c.source_id, c.pid, c.device_id, c.context_id, c.stream_id
ORDER BY work_count DESC, c.source_id, c.pid, c.device_id, c.context_id, c.stream_id
