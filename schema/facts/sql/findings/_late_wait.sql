-- _late_wait: For which later GPU a GPU waits in collectives, and what that one does in the longest of these waits.
-- grain: one GPU that waits in a stage and one that it waits for
-- key: kind, stage, device_id, late_source_id, late_device_id
-- needs: collective
-- columns:
--   kind VARCHAR: kind of the timeline
--   stage VARCHAR: the stage; NULL: all device work
--   device_id INTEGER: GPU that waits
--   late_source_id INTEGER: source of the later one
--   late_device_id INTEGER: the later GPU
--   wait_ns BIGINT: time in collectives, not overlapped, before it was in them
--   longest_ns BIGINT: the longest such wait
--   idle_ns BIGINT: how long the later GPU is idle in that
--   cause VARCHAR: the cause of most of that; NULL where it is not half of the wait
--   cause_ns BIGINT: idle time of that cause; NULL likewise
--   call VARCHAR: the longest call of its process meanwhile, where that is the cause; else NULL
--   call_ns BIGINT: what of it is in the wait; NULL likewise

WITH waited AS (
    SELECT
        t.kind,
        CASE WHEN t.is_staged THEN s.stage END AS stage,
        x.device_id,
        l.source_id AS late_source_id,
        l.device_id AS late_device_id,
        l.pid AS late_pid,
        l.own_start_ns AS until_ns,
        least(w.wait_ns, x.exposed_ns) AS ns
    FROM collective x
    JOIN rank_wait w
        ON w.run_id = x.run_id
        AND w.source_id = x.source_id
        AND w.pid IS NOT DISTINCT FROM x.pid
        AND w.device_id = x.device_id
        AND w.own_start_ns = x.start_ns
        AND w.rank_count > 1
        AND w.is_told
        AND NOT w.is_last
    JOIN rank_wait l ON l.run_id = w.run_id AND l.job_id = w.job_id AND l.match_id = w.match_id AND l.is_last
    JOIN _finding_timeline t ON t.source_id = x.source_id
    LEFT JOIN pass_context p
        ON p.run_id = x.run_id AND p.range_context_id = x.range_context_id AND t.is_staged AND NOT p.is_warmup
    LEFT JOIN stage_pass s ON s.run_id = x.run_id AND s.range_id = p.range_id
    WHERE x.run_id = $run AND (NOT t.is_staged OR p.range_id IS NOT NULL)
), pair AS (
    SELECT
        w.kind,
        w.stage,
        w.device_id,
        w.late_source_id,
        w.late_device_id,
        sum(w.ns)::BIGINT AS wait_ns,
        max(w.ns) AS longest_ns,
        arg_max(w.late_pid, (w.ns, -w.until_ns)) AS late_pid,
        arg_max(w.until_ns, (w.ns, -w.until_ns)) AS until_ns
    FROM waited w
    GROUP BY w.kind, w.stage, w.device_id, w.late_source_id, w.late_device_id
    HAVING max(w.ns) > 0
), span AS ( -- each longest wait once
    SELECT DISTINCT
        p.late_source_id,
        p.late_device_id,
        p.late_pid,
        p.until_ns - p.longest_ns AS from_ns,
        p.until_ns
    FROM pair p
), idle AS (
    SELECT
        s.late_source_id,
        s.late_device_id,
        s.from_ns,
        s.until_ns,
        c.kind AS cause,
        sum(
            i.ns / g.duration_ns * (least(g.start_ns + g.duration_ns, s.until_ns) - greatest(g.start_ns, s.from_ns))
        )::BIGINT AS ns
    FROM span s
    JOIN gap g
        ON g.run_id = $run
        AND g.source_id = s.late_source_id
        AND g.device_id = s.late_device_id
        AND g.start_ns < s.until_ns
        AND g.start_ns + g.duration_ns > s.from_ns
    JOIN gap_part i
        ON i.run_id = $run AND i.source_id = g.source_id AND i.device_id = g.device_id AND i.start_ns = g.start_ns
    JOIN stage_part c ON c.part = i.part
    GROUP BY s.late_source_id, s.late_device_id, s.from_ns, s.until_ns, c.kind
), most AS (
    SELECT
        i.late_source_id,
        i.late_device_id,
        i.from_ns,
        i.until_ns,
        sum(i.ns)::BIGINT AS idle_ns,
        CASE WHEN max(i.ns) >= 0.5 * (i.until_ns - i.from_ns) THEN arg_max(i.cause, (i.ns, i.cause)) END AS cause,
        CASE WHEN max(i.ns) >= 0.5 * (i.until_ns - i.from_ns) THEN max(i.ns) END AS cause_ns
    FROM idle i
    GROUP BY i.late_source_id, i.late_device_id, i.from_ns, i.until_ns
), call AS (
    SELECT
        s.late_source_id,
        s.late_device_id,
        s.from_ns,
        s.until_ns,
        arg_max(n.name, (x.ns, n.name)) AS call,
        max(x.ns) AS call_ns
    FROM span s
    JOIN most m
        ON m.late_source_id = s.late_source_id
        AND m.late_device_id = s.late_device_id
        AND m.from_ns = s.from_ns
        AND m.until_ns = s.until_ns
        AND m.cause IN ('call', 'wait')
    JOIN api_call a
        ON a.run_id = $run
        AND a.source_id = s.late_source_id
        AND a.pid IS NOT DISTINCT FROM s.late_pid
        AND a.start_ns < s.until_ns
        AND a.start_ns + a.duration_ns > s.from_ns
    JOIN api_name n ON n.run_id = $run AND n.api_name_id = a.api_name_id
    CROSS JOIN LATERAL (
        SELECT least(a.start_ns + a.duration_ns, s.until_ns) - greatest(a.start_ns, s.from_ns) AS ns
    ) x
    GROUP BY s.late_source_id, s.late_device_id, s.from_ns, s.until_ns
)
SELECT
    p.kind,
    p.stage,
    p.device_id,
    p.late_source_id,
    p.late_device_id,
    p.wait_ns,
    p.longest_ns,
    coalesce(m.idle_ns, 0) AS idle_ns,
    m.cause,
    m.cause_ns,
    c.call,
    c.call_ns
FROM pair p
LEFT JOIN most m
    ON m.late_source_id = p.late_source_id
    AND m.late_device_id = p.late_device_id
    AND m.from_ns = p.until_ns - p.longest_ns
    AND m.until_ns = p.until_ns
LEFT JOIN call c
    ON c.late_source_id = p.late_source_id
    AND c.late_device_id = p.late_device_id
    AND c.from_ns = p.until_ns - p.longest_ns
    AND c.until_ns = p.until_ns
