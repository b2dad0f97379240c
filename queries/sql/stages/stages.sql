-- stages v9: Stages of inference (prefill, decode, ...) with their times per pass, under the profiler and, where it was measured, without
--     one. Excludes warm-up passes: by a warm-up rule, by the workload, found cold (cold-passes), or of other work (passes). What several
--     ranks do together is one pass, which lasts until the last of them is done.
-- grain: one stage
-- key: stage
-- notes: pass throttle timelines workload launch range stage
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only work on this GPU, and only ranges with work on it
--   {source}
-- columns:
--   stage: the stage, by stage_rule
--   passes: passes: outermost ranges of the stage, warm-up excluded, those of the same number of all processes together; 0 in a run
--     without a timeline, of which only the times without a profiler are known
--   cpu_mean_ns: mean CPU time per pass, of the process that takes longest
--   gpu_span_mean_ns: mean GPU span (first start to last end of device work), of the process that takes longest, over the passes with
--     device work
--   gpu_busy_mean_ns: mean GPU busy time per pass (union of device intervals), summed over GPUs
--   gpu_sum_mean_ns: mean sum of the durations of a pass's kernels, copies, fills and graph replays
--   kernel_count: kernels of all these passes; NULL where graphs were traced as a whole, without their kernels
--   alone_median_ns: median time of a steady execution in recordings without a profiler, by alone_clock; NULL when not measured (overhead
--     has the reason), and with device
--   over_alone_ratio: by how much the median is longer under this profiler, by the same clock, as in overhead; NULL when not measured, and
--     with device
--   cpu_median_ns: median CPU time per pass
--   gpu_span_median_ns: median GPU span
--   cpu_std_ns: sample standard deviation (n-1) of the CPU time; NULL for a single pass
--   cpu_min_ns: shortest CPU time
--   cpu_max_ns: longest CPU time
--   gpu_span_std_ns: sample standard deviation (n-1) of the GPU span; NULL for a single pass
--   gpu_span_min_ns: shortest GPU span
--   gpu_span_max_ns: longest GPU span
--   gpu_busy_std_ns: sample standard deviation (n-1) of the GPU busy time; NULL for a single pass
--   gpu_sum_std_ns: sample standard deviation (n-1) of the sum of durations; NULL for a single pass
--   kernel_sum_mean_ns: mean sum of kernel durations per pass
--   busy_ratio: GPU busy time of the median pass (that of gpu_span_median_ns; of an even number the two in the middle) as a share of its
--     GPU span; NULL with several GPUs
--   memop_count: copies and fills in all these passes
--   graph_count: graph replays traced as a whole in all these passes
--   warmup_passes: passes excluded as warm-up, cold or of other work
--   token_count: tokens of all these passes, by the workload or the range names: prompts and decoded, all sequences; those of a pass that
--     several ranks worked on together count once. NULL when unknown for any pass, or when it is unknown whether ranks shared them
--   alone_clock: clock of alone_median_ns: gpu (from the opening of the range to the end of its work on the GPU), cpu (host clock: for
--     work that is not waited for, the time to launch it) or workload (its own, which waits for the GPU)
--   alone_tokens_per_s: tokens of the median execution without a profiler / alone_median_ns; NULL when one is not measured on the GPU, and
--     with device
--   gpu_span_tokens_per_s: tokens of the median pass / gpu_span_median_ns, both within one process; time between passes excluded. NULL when
--     a pass has no GPU span, unless its work is lost
--   known_pass_count: those of the passes of which a process is not known to have lost GPU work: gpu_span times and
--     gpu_span_tokens_per_s are of these, other GPU times and counts of passes of which no process has

-- Long: each statistic of a stage is a column, and tokens add up otherwise than times.
WITH pass AS (
    SELECT
        s.stage,
        s.repeat_id,
        s.pass_id,
        s.source_id,
        s.pid,
        s.is_warmup,
        s.prompt_token_count + s.decode_token_count AS tokens
    FROM _stage_pass(run, device := device, source := source) s
), whole AS (
    SELECT
        w.stage,
        w.range_id,
        w.cpu_ns,
        w.lost_count,
        w.gpu_span_ns,
        w.gpu_busy_ns,
        w.gpu_sum_ns,
        w.kernel_sum_ns,
        w.kernel_count,
        w.memop_count,
        w.graph_count,
        w.device_count,
        w.prompt_token_count + w.decode_token_count AS tokens,
        CASE WHEN device IS NULL THEN a.alone_ns END AS alone_ns
    FROM _whole_pass(runs := [run::UUID], device := device, source := source) w
    LEFT JOIN pass_alone a ON a.run_id = run AND a.range_id = w.range_id
), said AS (
    SELECT
        p.stage,
        p.repeat_id,
        count(*) AS processes,
        CASE WHEN count(p.tokens) = count(*) THEN sum(p.tokens) END AS tokens,
        CASE WHEN count(p.tokens) = count(*) THEN max(p.tokens) END AS shared_tokens
    FROM (
        SELECT
            p.stage,
            p.repeat_id,
            p.source_id,
            p.pid,
            CASE WHEN count(p.tokens) = count(*) THEN sum(p.tokens) END AS tokens
        FROM pass p
        WHERE NOT p.is_warmup
        GROUP BY ALL
    ) p
    GROUP BY p.stage, p.repeat_id
), token AS ( -- of ranks that share passes, one may have fewer that are not cold; with a device its ranks alone
    SELECT
        s.stage,
        CASE
            WHEN max(s.processes) = 1 OR NOT any_value(r.is_shared)
                THEN CASE WHEN count(s.tokens) = count(*) THEN sum(s.tokens) END
            WHEN any_value(r.is_shared) AND count(s.shared_tokens) = count(*) THEN sum(s.shared_tokens)
        END::BIGINT AS token_count
    FROM said s
    LEFT JOIN stage_share r
        ON r.run_id = run
        AND r.stage = s.stage
        AND r.kind = coalesce(source, (SELECT min(t.kind) FROM timeline t WHERE t.run_id = run AND t.is_counted))
    GROUP BY s.stage
), stage AS (
    SELECT
        p.stage,
        count(DISTINCT CASE WHEN p.is_warmup THEN (p.repeat_id, p.pass_id) END) AS warmup_passes
    FROM pass p
    GROUP BY p.stage
    UNION ALL -- timed, in a run without a timeline
    SELECT o.stage, 0
    FROM stage_overhead o
    WHERE o.run_id = run
        AND o.tool = 'none'
        AND device IS NULL
        AND source IS NULL
        AND NOT EXISTS (SELECT 1 FROM timeline t WHERE t.run_id = run)
), m AS (
    SELECT
        p.stage,
        count(*) AS passes,
        avg(p.cpu_ns) AS cpu_mean_ns,
        avg(p.gpu_span_ns) AS gpu_span_mean_ns,
        avg(p.gpu_busy_ns) AS gpu_busy_mean_ns,
        avg(p.gpu_sum_ns) AS gpu_sum_mean_ns,
        CASE WHEN sum(p.graph_count) = 0 THEN sum(p.kernel_count) END::BIGINT AS kernel_count,
        median(p.cpu_ns) AS cpu_median_ns,
        median(p.gpu_span_ns) AS gpu_span_median_ns,
        _std(p.cpu_ns) AS cpu_std_ns,
        min(p.cpu_ns) AS cpu_min_ns,
        max(p.cpu_ns) AS cpu_max_ns,
        _std(p.gpu_span_ns) AS gpu_span_std_ns,
        min(p.gpu_span_ns) AS gpu_span_min_ns,
        max(p.gpu_span_ns) AS gpu_span_max_ns,
        _std(p.gpu_busy_ns) AS gpu_busy_std_ns,
        _std(p.gpu_sum_ns) AS gpu_sum_std_ns,
        avg(p.kernel_sum_ns) AS kernel_sum_mean_ns,
        CASE
            WHEN max(p.device_count) <= 1
                THEN _median_pass(p.gpu_busy_ns, p.gpu_span_ns, p.range_id) / nullif(median(p.gpu_span_ns), 0)
        END AS busy_ratio,
        sum(p.memop_count)::BIGINT AS memop_count,
        sum(p.graph_count)::BIGINT AS graph_count,
        CASE
            WHEN bool_and(p.tokens IS NOT NULL AND p.gpu_span_ns > 0) FILTER (p.lost_count = 0)
                THEN _median_pass(p.tokens, p.gpu_span_ns, p.range_id) / (median(p.gpu_span_ns) / 1e9)
        END AS gpu_span_tokens_per_s,
        CASE
            WHEN bool_and(p.tokens IS NOT NULL AND p.alone_ns > 0)
                THEN _median_pass(p.tokens, p.alone_ns, p.range_id)
        END AS alone_tokens,
        count(*) FILTER (p.lost_count = 0) AS known_pass_count
    FROM whole p
    GROUP BY p.stage
)
SELECT
    s.stage,
    coalesce(m.passes, 0) AS passes,
    m.cpu_mean_ns,
    m.gpu_span_mean_ns,
    m.gpu_busy_mean_ns,
    m.gpu_sum_mean_ns,
    CASE WHEN m.stage IS NULL THEN 0 ELSE m.kernel_count END AS kernel_count,
    o.alone_median_ns,
    o.overhead_ratio AS over_alone_ratio,
    m.cpu_median_ns,
    m.gpu_span_median_ns,
    m.cpu_std_ns,
    m.cpu_min_ns,
    m.cpu_max_ns,
    m.gpu_span_std_ns,
    m.gpu_span_min_ns,
    m.gpu_span_max_ns,
    m.gpu_busy_std_ns,
    m.gpu_sum_std_ns,
    m.kernel_sum_mean_ns,
    m.busy_ratio,
    CASE WHEN m.stage IS NULL THEN 0 ELSE m.memop_count END AS memop_count,
    CASE WHEN m.stage IS NULL THEN 0 ELSE m.graph_count END AS graph_count,
    s.warmup_passes,
    k.token_count,
    CASE WHEN o.alone_median_ns IS NOT NULL THEN o.clock END AS alone_clock,
    CASE WHEN o.clock = 'gpu' THEN m.alone_tokens / (o.alone_median_ns / 1e9) END AS alone_tokens_per_s,
    m.gpu_span_tokens_per_s,
    coalesce(m.known_pass_count, 0) AS known_pass_count
FROM stage s
LEFT JOIN m ON m.stage = s.stage
LEFT JOIN token k ON k.stage = s.stage
LEFT JOIN stage_overhead o
    ON o.run_id = run
    AND o.stage = s.stage
    AND o.tool = coalesce(source, (SELECT min(t.kind) FROM timeline t WHERE t.run_id = run AND t.is_counted), 'none')
    AND o.is_shown
    AND device IS NULL
ORDER BY array_position(['prefill', 'decode'], s.stage) NULLS LAST, s.stage
