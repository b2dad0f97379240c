-- cold_pass: Cold passes: the first passes of a stage in a process that take longer than later ones although the GPU has no more work.
-- grain: one cold pass
-- key: range_id
-- needs: _stage_range
-- columns:
--   range_id BIGINT: the pass
--   time_ns BIGINT: time of the pass: gpu_span_ns, or cpu_ns when no pass of the stage in its process has device work
--   steady_ns DOUBLE: median time of a steady pass: the later half of the passes

-- Passes that do other work are left out (unlike_pass). Each window of a session begins cold: profiling begins anew there. Each pass of the
-- first half is compared with the later half of its process (with three passes the second and third, with two the second). It is cold where
-- it takes longer, kernels do not explain half of that, and it takes longer by a tenth, of which loading, allocating and making graphs are
-- half or more; half, with more than twice as many of these calls, or more than twice as long (and 1 ms) in them; as much again as the
-- longest of the later half, and three passes or more come after it. Of ranks that pass through a stage together, one cold rank makes the
-- others wait: where theirs takes a tenth longer, it is cold too. Nothing is found where the workload says which passes are warm-up: by
-- --warmup N, a number in a file, or one that lists fewer passes than the timeline has. A file that lists them all and calls none of them
-- warm-up says what they worked on.
WITH said AS (
    SELECT e.kind
    FROM workload_entry e
    WHERE e.run_id = $run AND e.kind IS NOT NULL AND e.warmup_count IS NOT NULL
    UNION ALL
    SELECT t.kind
    FROM _said_pass f
    JOIN _stage_range r ON r.range_id = f.range_id
    JOIN timeline t ON t.run_id = $run AND t.source_id = r.source_id
    WHERE f.is_warmup
), sign AS (
    SELECT
        s.range_id,
        sum(s.call_count)::BIGINT AS calls,
        greatest(
            sum(CASE WHEN s.kind <> 'launch' THEN s.time_ns END),
            sum(CASE WHEN s.kind = 'launch' THEN s.time_ns END)
        ) AS ns
    FROM cold_sign s
    WHERE s.run_id = $run
    GROUP BY s.range_id
), p AS (
    SELECT
        r.range_id,
        r.stage,
        r.source_id,
        r.pid,
        CASE
            WHEN bool_or(r.gpu_span_ns IS NOT NULL) OVER (PARTITION BY r.stage, r.source_id, r.pid) THEN r.gpu_span_ns
            ELSE r.cpu_ns
        END AS ns,
        r.kernel_sum_ns,
        coalesce(s.calls, 0) AS calls,
        coalesce(s.ns, 0) AS sign_ns,
        row_number() OVER (PARTITION BY r.stage, r.source_id, r.pid ORDER BY r.start_ns, r.range_id) AS nth,
        count(*) OVER (PARTITION BY r.stage, r.source_id, r.pid) AS passes,
        t.kind,
        coalesce(x.repeat_id, 1) AS repeat_id
    FROM _stage_range r
    JOIN timeline t ON t.run_id = $run AND t.source_id = r.source_id
    LEFT JOIN _source_repeat x ON x.source_id = r.source_id
    LEFT JOIN sign s ON s.range_id = r.range_id
    WHERE NOT r.is_ruled
        AND r.stage_count > 1
        AND r.range_id NOT IN (SELECT u.range_id FROM unlike_pass u WHERE u.run_id = $run)
        AND t.kind NOT IN (SELECT f.kind FROM said f)
), later AS (
    SELECT
        p.stage,
        p.source_id,
        p.pid,
        median(p.ns) AS ns,
        max(p.ns) AS max_ns,
        max(p.calls) AS calls,
        median(p.sign_ns) AS sign_ns,
        max(p.sign_ns) AS max_sign_ns,
        median(p.kernel_sum_ns) AS kernel_ns
    FROM p
    WHERE 2 * p.nth > p.passes
    GROUP BY p.stage, p.source_id, p.pid
), judged AS (
    SELECT
        p.range_id,
        p.stage,
        p.source_id,
        p.pid,
        p.nth,
        p.ns,
        l.ns AS steady_ns,
        p.ns - l.ns AS excess_ns,
        excess_ns >= 0.1 * l.ns
        AND bool_or(
            p.kernel_sum_ns - l.kernel_ns < 0.5 * excess_ns
            AND (
                excess_ns >= 0.1 * l.ns AND p.sign_ns - l.sign_ns >= 0.5 * excess_ns
                OR excess_ns >= 0.5 * l.ns AND (p.calls > 2 * l.calls OR p.sign_ns > 2 * l.max_sign_ns + 1000000)
                OR p.passes - p.nth >= 3 AND p.ns >= 2 * l.max_ns
            )
        ) OVER (PARTITION BY p.kind, p.repeat_id, p.stage, p.passes, p.nth) AS is_cold
    FROM p JOIN later l ON l.stage = p.stage AND l.source_id = p.source_id AND l.pid = p.pid
    WHERE 2 * p.nth <= p.passes AND l.ns > 0
)
SELECT
    j.range_id,
    j.ns AS time_ns,
    j.steady_ns
FROM judged j
QUALIFY bool_and(coalesce(j.is_cold, false)) OVER (PARTITION BY j.stage, j.source_id, j.pid ORDER BY j.nth)
