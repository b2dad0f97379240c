-- streams v2: Device work by CUDA stream. Warm-up counts too: it lists what the capture has.
-- grain: one stream of one process on one GPU
-- key: source_id, pid, device, context, stream
-- notes: graph timelines warm launch
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only this GPU
--   {source}
-- columns:
--   source_id: the source
--   pid: process
--   device: GPU
--   context: CUDA context; NULL when the capture has none
--   stream: CUDA stream
--   kernel_count: kernels
--   kernel_sum_ns: sum of their durations
--   memop_count: copies and fills
--   memop_sum_ns: sum of their durations
--   graph_count: graph replays traced as a whole
--   graph_sum_ns: sum of their durations
--   first_start_ns: start of the first work, from the start of the source
--   last_end_ns: end of the last work, from the start of the source
--   priority: stream priority, lower is served first; NULL when not recorded
--   flag: stream flag; NULL when not recorded

WITH work AS (
    SELECT
        k.source_id,
        k.pid,
        k.device_id,
        k.context_id,
        k.stream_id,
        count(*) AS kernels,
        sum(k.duration_ns) AS kernel_ns,
        0 AS memops,
        0 AS memop_ns,
        0 AS graphs,
        0 AS graph_ns,
        min(k.start_ns) AS first_ns,
        max(k.start_ns + k.duration_ns) AS last_ns
    FROM kernel k
    WHERE k.run_id = run
    GROUP BY ALL
    UNION ALL
    SELECT
        m.source_id,
        m.pid,
        m.device_id,
        m.context_id,
        m.stream_id,
        0,
        0,
        count(*),
        sum(m.duration_ns),
        0,
        0,
        min(m.start_ns),
        max(m.start_ns + m.duration_ns)
    FROM memop m
    WHERE m.run_id = run
    GROUP BY ALL
    UNION ALL
    SELECT
        g.source_id,
        g.pid,
        g.device_id,
        g.context_id,
        g.stream_id,
        0,
        0,
        0,
        0,
        count(*),
        sum(g.duration_ns),
        min(g.start_ns),
        max(g.start_ns + g.duration_ns)
    FROM graph_launch g
    WHERE g.run_id = run AND g.mode = 'graph'
    GROUP BY ALL
), known AS (
    SELECT
        s.source_id,
        s.pid,
        s.context_id,
        s.stream_id,
        any_value(s.priority) AS priority,
        any_value(s.flag) AS flag
    FROM stream s
    WHERE s.run_id = run
    GROUP BY ALL
)
SELECT
    w.source_id,
    w.pid,
    w.device_id AS device,
    w.context_id AS context,
    w.stream_id AS stream,
    sum(w.kernels)::BIGINT AS kernel_count,
    sum(w.kernel_ns)::BIGINT AS kernel_sum_ns,
    sum(w.memops)::BIGINT AS memop_count,
    sum(w.memop_ns)::BIGINT AS memop_sum_ns,
    sum(w.graphs)::BIGINT AS graph_count,
    sum(w.graph_ns)::BIGINT AS graph_sum_ns,
    min(w.first_ns) AS first_start_ns,
    max(w.last_ns) AS last_end_ns,
    any_value(s.priority) AS priority,
    any_value(s.flag) AS flag
FROM work w
LEFT JOIN known s
    ON s.source_id = w.source_id AND s.pid = w.pid AND s.context_id = w.context_id AND s.stream_id = w.stream_id
WHERE (device IS NULL OR w.device_id = device)
    AND w.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
GROUP BY w.source_id, w.pid, w.device_id, w.context_id, w.stream_id
ORDER BY kernel_sum_ns + memop_sum_ns + graph_sum_ns DESC, w.source_id, w.pid, w.device_id, w.context_id, w.stream_id
