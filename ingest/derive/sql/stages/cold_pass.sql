-- cold_pass: The first passes of a stage in a process, as long as they are cold: they take longer than the later ones, and not because the GPU has more to do.
-- grain: one cold pass
-- key: range_id
-- needs: _stage_range
-- columns:
--   range_id BIGINT: the pass
--   stage VARCHAR: its stage
--   time_ns BIGINT: its time: gpu_span_ns, or cpu_ns of a pass without device work
--   steady_ns DOUBLE: median of the same over the later half of the passes
--   excess_ns DOUBLE: how much longer it took

-- Each pass of the first half is compared with the later half of its process (with three passes the second and third, with two the second).
-- It is cold where it takes longer by
--   a tenth, and loading, allocating and making graphs are half of that or more;
--   half, it has more than twice as many of these calls or spends more than twice as long in them (and 1 ms), and kernels do not explain half of it;
--   as much again as the longest of the later half, three passes or more come after it, and kernels do not explain half of it.
-- Of ranks that pass through a stage together, one cold rank makes the others wait: its pass is cold on all of them.
-- Nothing is found where the workload says which passes are warm-up: by --warmup N, a number in a file, or one that lists fewer passes than
-- the timeline has. A file that lists them all and calls none of them warm-up says what they worked on.
WITH said AS (
    SELECT e.kind FROM workload_entry e WHERE e.run_id = $run AND e.kind IS NOT NULL AND e.warmup_count IS NOT NULL
    UNION ALL
    SELECT t.kind FROM _said_pass f JOIN _stage_range r ON r.range_id = f.range_id JOIN timeline t ON t.run_id = $run AND t.source_id = r.source_id WHERE f.is_warmup
), sign AS (
    SELECT s.range_id, sum(s.call_count)::BIGINT AS calls, greatest(sum(CASE WHEN s.kind <> 'launch' THEN s.time_ns END), sum(CASE WHEN s.kind = 'launch' THEN s.time_ns END)) AS ns
    FROM cold_sign s WHERE s.run_id = $run GROUP BY s.range_id
), p AS (
    SELECT r.range_id, r.stage, r.source_id, r.pid, r.start_ns, coalesce(r.gpu_span_ns, r.cpu_ns) AS ns, r.kernel_sum_ns, coalesce(s.calls, 0) AS calls, coalesce(s.ns, 0) AS sign_ns,
        r.stage_count - r.back_count + 1 AS nth, r.stage_count AS passes, t.kind, coalesce(x.repeat_id, 1) AS repeat_id
    FROM _stage_range r JOIN timeline t ON t.run_id = $run AND t.source_id = r.source_id
    LEFT JOIN _source_repeat x ON x.source_id = r.source_id
    LEFT JOIN sign s ON s.range_id = r.range_id
    WHERE NOT r.is_ruled AND r.stage_count > 1 AND t.kind NOT IN (SELECT f.kind FROM said f)
), later AS (
    SELECT p.stage, p.source_id, p.pid, median(p.ns) AS ns, max(p.ns) AS max_ns, max(p.calls) AS calls, median(p.sign_ns) AS sign_ns, max(p.sign_ns) AS max_sign_ns, median(p.kernel_sum_ns) AS kernel_ns
    FROM p WHERE 2 * p.nth > p.passes GROUP BY p.stage, p.source_id, p.pid
), told AS (
    SELECT p.range_id, p.stage, p.source_id, p.pid, p.nth, p.ns, l.ns AS steady_ns, p.ns - l.ns AS excess_ns, bool_or(
            p.ns - l.ns >= 0.1 * l.ns AND p.sign_ns - l.sign_ns >= 0.5 * (p.ns - l.ns)
            OR p.kernel_sum_ns - l.kernel_ns < 0.5 * (p.ns - l.ns) AND (p.ns >= 1.5 * l.ns AND (p.calls > 2 * l.calls OR p.sign_ns > 2 * l.max_sign_ns + 1000000) OR p.passes - p.nth >= 3 AND p.ns >= 2 * l.max_ns)
        ) OVER (PARTITION BY p.kind, p.repeat_id, p.stage, p.passes, p.nth) AS is_cold
    FROM p JOIN later l ON l.stage = p.stage AND l.source_id = p.source_id AND l.pid = p.pid
    WHERE 2 * p.nth <= p.passes
)
SELECT t.range_id, t.stage, t.ns AS time_ns, t.steady_ns, t.excess_ns
FROM told t
QUALIFY bool_and(coalesce(t.is_cold, false)) OVER (PARTITION BY t.stage, t.source_id, t.pid ORDER BY t.nth)
