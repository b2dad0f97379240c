-- engine-overhead v1: CPU time of an engine's thread inside and between its iterations by range: scheduling, input, sampling, detokenising;
--     and how long the GPU was idle meanwhile.
-- grain: one place and range name, of all threads that run iterations
-- key: rank
-- notes: stage timelines workload launch range
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: maximum rows; 0 for all
--   stage VARCHAR = NULL: only iterations of this stage, and the time before them
--   device BIGINT = NULL: only iterations with work on this GPU, and its idle time
--   {source}
-- columns:
--   rank: rank by idle_ns, then total_ns
--   place: inside an iteration; between it and the one before on its thread; or pass: there too, in a stage pass of several forward passes
--     that nothing marks
--   range: outermost range there, normalised; (no range) for the time outside all ranges: other code, or an engine without requests
--   total_ns: CPU time in it; all rows add up to the time from the start of the first iteration of each thread to the end of its last, less
--     warm-up
--   share_ratio: total_ns as a share of all rows
--   idle_ns: time in it in which no work ran on the GPU, summed over GPUs; a lower bound if is_least; NULL without device work
--   idle_share_ratio: idle_ns as a share of all rows
--   mean_ns: total_ns / iterations
--   iteration_count: iterations of the selection, whether they have the range or not
--   calls: instances; NULL for (no range)
--   max_ns: longest instance; NULL for (no range)
--   is_least: whether idle_ns is a lower bound: a GPU has more than 10,000 gaps, of which only the longest are stored

-- Long: ranges, pauses and idle time of a GPU are each cut by the iterations of a thread, and then stand side by side.
WITH i AS ( -- one row a range: a thread may drive several GPUs
    SELECT
        i.range_id,
        any_value(i.source_id) AS source_id,
        any_value(i.pid) AS pid,
        any_value(i.tid) AS tid,
        any_value(i.stage) AS stage,
        bool_or(i.is_warmup) AS is_warmup,
        any_value(r.start_ns) AS start_ns,
        any_value(r.start_ns + r.duration_ns) AS end_ns,
        list(i.device_id ORDER BY i.device_id) AS devices
    FROM iteration i JOIN nvtx_range r ON r.run_id = run AND r.range_id = i.range_id
    WHERE i.run_id = run
        AND r.duration_ns IS NOT NULL
        AND i.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
    GROUP BY i.range_id
), x AS (
    SELECT
        i.range_id,
        i.source_id,
        i.pid,
        i.tid,
        i.stage,
        i.is_warmup,
        i.start_ns,
        i.end_ns,
        i.devices,
        lag(i.end_ns) OVER (PARTITION BY i.source_id, i.pid, i.tid ORDER BY i.start_ns, i.range_id) AS before_ns
    FROM i
), part AS ( -- time of a thread by iteration
    SELECT 'inside' AS place, x.range_id, x.source_id, x.pid, x.tid, x.start_ns, x.end_ns, x.devices
    FROM x
    WHERE NOT x.is_warmup
        AND (stage IS NULL OR x.stage = stage)
        AND (device IS NULL OR list_contains(x.devices, device))
    UNION ALL
    SELECT 'between', x.range_id, x.source_id, x.pid, x.tid, x.before_ns, x.start_ns, x.devices
    FROM x
    WHERE x.before_ns < x.start_ns
        AND NOT x.is_warmup
        AND (stage IS NULL OR x.stage = stage)
        AND (device IS NULL OR list_contains(x.devices, device))
), n AS (
    SELECT
        p.place,
        p.range_id AS iteration_id,
        n.range_id,
        n.parent_range_id,
        n.path_id,
        p.source_id,
        n.start_ns,
        n.start_ns + n.duration_ns AS end_ns,
        p.devices
    FROM (
        SELECT
            n.range_id,
            n.parent_range_id,
            n.path_id,
            n.source_id,
            n.pid,
            n.tid,
            n.start_ns,
            n.duration_ns
        FROM nvtx_range n
        WHERE n.run_id = run
            AND n.duration_ns IS NOT NULL
            AND n.style <> 'start_end'
            AND n.range_id NOT IN (SELECT i.range_id FROM i)
    ) n
    ASOF JOIN part p ON p.source_id = n.source_id AND p.pid = n.pid AND p.tid = n.tid AND n.start_ns >= p.start_ns
    WHERE n.start_ns + n.duration_ns <= p.end_ns
), item AS (
    SELECT
        CASE
            WHEN n.place = 'between'
                AND EXISTS (
                    SELECT 1
                    FROM stage_pass f
                    WHERE f.run_id = run AND f.range_id = n.range_id
                )
                THEN 'pass'
            ELSE n.place
        END AS place,
        n.iteration_id,
        n.range_id,
        n.path_id,
        n.source_id,
        n.start_ns,
        n.end_ns,
        n.devices
    FROM n
    WHERE NOT EXISTS (SELECT 1 FROM n p WHERE p.range_id = n.parent_range_id)
    UNION ALL
    SELECT p.place, p.range_id, NULL, NULL, p.source_id, p.start_ns, p.end_ns, p.devices
    FROM part p
), gpu AS ( -- before its first work and after its last a GPU is idle too
    SELECT
        t.source_id,
        t.device_id,
        any_value(t.start_ns) AS start_ns,
        any_value(t.end_ns) AS end_ns,
        least(min(p.start_ns), any_value(t.start_ns)) AS from_ns,
        greatest(max(p.end_ns), any_value(t.end_ns)) AS to_ns
    FROM (SELECT p.source_id, p.start_ns, p.end_ns, unnest(p.devices) AS device_id FROM part p) p
    JOIN device_time t
        ON t.run_id = run AND t.range_id IS NULL AND t.source_id = p.source_id AND t.device_id = p.device_id
    WHERE device IS NULL OR t.device_id = device
    GROUP BY t.source_id, t.device_id
), pause AS (
    SELECT g.source_id, g.device_id, g.start_ns, g.duration_ns, true AS is_gap
    FROM gap g JOIN gpu ON gpu.source_id = g.source_id AND gpu.device_id = g.device_id
    WHERE g.run_id = run
    UNION ALL
    SELECT
        gpu.source_id,
        gpu.device_id,
        gpu.from_ns,
        gpu.start_ns - gpu.from_ns,
        false
    FROM gpu
    UNION ALL
    SELECT
        gpu.source_id,
        gpu.device_id,
        gpu.end_ns,
        gpu.to_ns - gpu.end_ns,
        false
    FROM gpu
), lull AS ( -- the pauses of each GPU, with the idle time before each
    SELECT
        g.source_id,
        g.device_id,
        g.start_ns,
        g.duration_ns,
        sum(g.duration_ns) OVER (
            PARTITION BY g.source_id, g.device_id
            ORDER BY g.start_ns, g.duration_ns
            ROWS UNBOUNDED PRECEDING
        )
            - g.duration_ns AS before_ns,
        count(*) FILTER (g.is_gap) OVER (PARTITION BY g.source_id, g.device_id) >= 10000 AS is_cut
    FROM pause g
    WHERE g.duration_ns > 0
), edge AS (
    SELECT
        e.place,
        e.iteration_id,
        e.range_id,
        e.source_id,
        e.device_id,
        unnest([e.start_ns, e.end_ns]) AS at_ns,
        unnest([-1, 1]) AS sign
    FROM (
        SELECT
            k.place,
            k.iteration_id,
            k.range_id,
            k.source_id,
            k.start_ns,
            k.end_ns,
            unnest(k.devices) AS device_id
        FROM item k
    ) e
), idle AS ( -- idle time up to its end less that up to its start
    SELECT
        e.place,
        e.iteration_id,
        e.range_id,
        sum(e.sign * (l.before_ns + least(e.at_ns - l.start_ns, l.duration_ns)))::BIGINT AS idle_ns
    FROM edge e
    ASOF JOIN lull l ON l.source_id = e.source_id AND l.device_id = e.device_id AND e.at_ns >= l.start_ns
    GROUP BY e.place, e.iteration_id, e.range_id
), s AS (
    SELECT
        k.place,
        p.name AS range,
        k.range_id IS NULL AS is_whole,
        sum(k.end_ns - k.start_ns)::BIGINT AS total_ns,
        coalesce(sum(d.idle_ns), 0)::BIGINT AS idle_ns,
        count(*) AS calls,
        max(k.end_ns - k.start_ns) AS max_ns
    FROM item k
    LEFT JOIN range_path p ON p.run_id = run AND p.path_id = k.path_id
    LEFT JOIN idle d
        ON d.place = k.place AND d.iteration_id = k.iteration_id AND d.range_id IS NOT DISTINCT FROM k.range_id
    GROUP BY k.place, p.name, k.range_id IS NULL
), part_sum AS ( -- what the ranges leave of the whole is outside of them
    SELECT s.place, s.range, s.total_ns, s.idle_ns, s.calls, s.max_ns
    FROM s
    WHERE NOT s.is_whole
    UNION ALL
    SELECT
        w.place,
        '(no range)',
        w.total_ns - coalesce(r.total_ns, 0),
        w.idle_ns - coalesce(r.idle_ns, 0),
        NULL,
        NULL
    FROM s w
    LEFT JOIN (
        SELECT
            CASE s.place WHEN 'pass' THEN 'between' ELSE s.place END AS place,
            sum(s.total_ns)::BIGINT AS total_ns,
            sum(s.idle_ns)::BIGINT AS idle_ns
        FROM s
        WHERE NOT s.is_whole
        GROUP BY ALL
    ) r ON r.place = w.place
    WHERE w.is_whole
), q AS ( -- of a GPU that did nothing the capture says nothing
    SELECT
        a.place,
        a.range,
        a.total_ns,
        CASE WHEN EXISTS (SELECT 1 FROM gpu) THEN a.idle_ns END AS idle_ns,
        a.calls,
        a.max_ns
    FROM part_sum a
)
SELECT
    row_number() OVER (ORDER BY q.idle_ns DESC NULLS LAST, q.total_ns DESC, q.place, q.range) AS rank,
    q.place,
    q.range,
    q.total_ns,
    q.total_ns / nullif((SELECT sum(t.total_ns) FROM q t), 0) AS share_ratio,
    q.idle_ns,
    q.idle_ns / nullif((SELECT sum(t.idle_ns) FROM q t), 0) AS idle_share_ratio,
    q.total_ns / n.iterations AS mean_ns,
    n.iterations AS iteration_count,
    q.calls,
    q.max_ns,
    coalesce((SELECT bool_or(l.is_cut) FROM lull l), false) AS is_least
FROM q CROSS JOIN (SELECT count(DISTINCT p.range_id) AS iterations FROM part p) n
QUALIFY top = 0 OR rank <= top
ORDER BY rank
