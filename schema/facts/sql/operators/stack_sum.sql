-- stack_sum: Device work, idle time, CPU time and samples by Python stack.
-- grain: one Python stack, GPU and stage in a source; CPU time and samples are on rows without a GPU
-- key: source_id, device_id, stage, stack_id
-- needs: python_stack
-- columns:
--   source_id INTEGER: the source
--   device_id INTEGER: GPU; NULL for CPU time and samples
--   stage VARCHAR: stage of the launch, call or sample; for idle time that of the work after; (none) outside every stage
--   stack_id BIGINT: the stack; 0 outside every Python function, NULL when not recorded: no stack was taken of the launch, the launch was
--     not captured, the sample cannot be read, or the gap is none of those in gap
--   work_count BIGINT: kernels, copies, fills and replays traced as a whole that were launched in it
--   device_ns BIGINT: sum of their durations
--   backward_count BIGINT: pieces of device work launched outside Python by backward operators, as autograd's own threads do, of forward
--     operators called in it
--   backward_device_ns BIGINT: sum of their durations
--   gap_count BIGINT: idle gaps spent in it, as in gap_stack
--   idle_ns BIGINT: sum of their durations
--   call_count BIGINT: calls of its innermost function
--   cpu_ns BIGINT: time in these calls, excluding Python functions called inside them
--   idle_sample_count BIGINT: samples in it within these gaps, on the thread that launches next
--   sample_count BIGINT: samples of all threads in it, waiting or running

WITH kept AS (
    SELECT
        g.source_id,
        g.device_id,
        coalesce(t.stage, '(none)') AS stage,
        s.stack_id,
        s.match_count,
        g.duration_ns
    FROM gap g
    LEFT JOIN gap_stack s
        ON s.run_id = g.run_id AND s.source_id = g.source_id AND s.device_id = g.device_id AND s.start_ns = g.start_ns
    LEFT JOIN path_stage t ON t.run_id = g.run_id AND t.path_id = g.path_id
    WHERE g.run_id = $run
), rest AS ( -- of all gaps, those that gap does not hold
    SELECT
        a.source_id,
        a.device_id,
        a.stage,
        sum(a.gap_count) AS gap_count,
        sum(a.duration_ns) AS idle_ns
    FROM (
        SELECT
            s.source_id,
            s.device_id,
            coalesce(t.stage, '(none)') AS stage,
            s.gap_count,
            s.duration_ns
        FROM gap_sum s LEFT JOIN path_stage t ON t.run_id = s.run_id AND t.path_id = s.path_id
        WHERE s.run_id = $run
        UNION ALL
        SELECT
            k.source_id,
            k.device_id,
            k.stage,
            -1,
            -k.duration_ns
        FROM kept k
    ) a
    GROUP BY a.source_id, a.device_id, a.stage
    HAVING sum(a.duration_ns) <> 0
), part AS (
    SELECT
        w.source_id,
        w.device_id,
        w.stage,
        w.stack_id,
        sum(w.call_count) FILTER (NOT w.is_backward) AS work_count,
        sum(w.total_ns) FILTER (NOT w.is_backward) AS device_ns,
        sum(w.call_count) FILTER (w.is_backward) AS backward_count,
        sum(w.total_ns) FILTER (w.is_backward) AS backward_device_ns
    FROM stack_work w
    WHERE w.run_id = $run
    GROUP BY w.source_id, w.device_id, w.stage, w.stack_id
    UNION ALL BY NAME
    SELECT
        k.source_id,
        k.device_id,
        k.stage,
        k.stack_id,
        count(*) AS gap_count,
        sum(k.duration_ns) AS idle_ns,
        sum(k.match_count) AS idle_sample_count
    FROM kept k
    GROUP BY k.source_id, k.device_id, k.stage, k.stack_id
    UNION ALL BY NAME
    SELECT r.source_id, r.device_id, r.stage, NULL AS stack_id, r.gap_count, r.idle_ns
    FROM rest r
    UNION ALL BY NAME
    SELECT
        c.source_id,
        NULL::INTEGER AS device_id,
        coalesce(t.stage, '(none)') AS stage,
        c.stack_id,
        count(*) AS call_count,
        sum(c.self_cpu_ns) AS cpu_ns
    FROM python_call c LEFT JOIN path_stage t ON t.run_id = c.run_id AND t.path_id = c.path_id
    WHERE c.run_id = $run
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT
        c.source_id,
        NULL::INTEGER AS device_id,
        coalesce(t.stage, '(none)') AS stage,
        c.stack_id,
        count(*) AS sample_count
    FROM python_sample c LEFT JOIN path_stage t ON t.run_id = c.run_id AND t.path_id = c.path_id
    WHERE c.run_id = $run
    GROUP BY ALL
)
SELECT
    p.source_id,
    p.device_id,
    p.stage,
    p.stack_id,
    coalesce(sum(p.work_count), 0)::BIGINT AS work_count,
    coalesce(sum(p.device_ns), 0)::BIGINT AS device_ns,
    coalesce(sum(p.backward_count), 0)::BIGINT AS backward_count,
    coalesce(sum(p.backward_device_ns), 0)::BIGINT AS backward_device_ns,
    coalesce(sum(p.gap_count), 0)::BIGINT AS gap_count,
    coalesce(sum(p.idle_ns), 0)::BIGINT AS idle_ns,
    coalesce(sum(p.call_count), 0)::BIGINT AS call_count,
    coalesce(sum(p.cpu_ns), 0)::BIGINT AS cpu_ns,
    coalesce(sum(p.idle_sample_count), 0)::BIGINT AS idle_sample_count,
    coalesce(sum(p.sample_count), 0)::BIGINT AS sample_count
FROM part p
GROUP BY p.source_id, p.device_id, p.stage, p.stack_id
