-- step-times v1: Step times by kind of step: mean, standard deviation and percentiles, time per output token, busy and launch-bound shares.
--     Warm-up is excluded.
-- grain: one kind of step of one process on one GPU
-- key: source_id, pid, device, stage, name
-- notes: step timelines workload launch range
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage; (none) for steps outside every stage
--   device BIGINT = NULL: only work on this GPU, and only steps with work on it
--   by VARCHAR = NULL: assign work to steps by launch (launched by the step's thread during it) or time (run during the step, other
--     threads' work included; for steps outside stages); default: time for ProfilerStep#, and for other ranges of one thread in which other
--     threads launch work
--   {source}
-- columns:
--   stage: stage, by stage_rule; (none) outside every stage
--   step_count: steps, warm-up excluded
--   mean_ns: mean step time, by time_basis
--   p50_ns: median step time
--   p99_ns: 99th percentile of step time, interpolated like the others
--   max_ns: longest step
--   token_time_ns: mean time per output token of a sequence (inter-token latency); NULL when unknown for any step
--   busy_ratio: GPU busy time of the steps as a share of their time, from a step's first device work to its last, or to the next step; NULL
--     when unknown, and, like all shares, when overlap_ratio is over 0.01: work shared by two steps counts in both
--   launch_bound_ratio: idle in launching calls (of graphs, or of less than 100 us) or on the way to them, as a share of the time that
--     busy_ratio is of; NULL when unknown
--   kernel_mean_count: mean kernels per step, one launch each where no graph launches them; NULL when unknown for any step, as where graphs
--     were traced as a whole
--   std_ns: sample standard deviation (n-1) of step time; NULL for fewer than two
--   min_ns: shortest step
--   p90_ns: 90th percentile of step time
--   p95_ns: 95th percentile of step time
--   name: normalised range name; for periodic steps, the kernel that begins each step, or graph replay
--   device: GPU; NULL for steps without device work
--   time_basis: definition of a step's time: gpu_period (first device work of a step to that of the next) where steps follow each other in
--     a pass, else gpu_span (first start to last end), or cpu without device work
--   timed_count: steps with a known time: the last one of a pass has no gpu_period; shares and means cover these
--   wait_ratio: idle while the thread waited for the GPU, as a share of the time that busy_ratio is of; NULL when unknown
--   host_ratio: idle while the thread was outside CUDA, as a share of the time that busy_ratio is of; NULL when unknown
--   between_ratio: time between the last device work of a step and the first of the next, as a share of the time that busy_ratio is of;
--     NULL when unknown
--   overlap_ratio: time in which a step's device work ran on after the next step began, up to the step's last end, as a share of the time
--     that busy_ratio is of; NULL when unknown
--   warmup_count: excluded warm-up steps
--   basis: how the step was found: range or period
--   source_id: the source
--   pid: process

WITH s AS (
    SELECT
        s.source_id,
        s.pid,
        s.device_id,
        s.stage,
        s.name_path_id,
        s.kernel_name_id,
        s.basis,
        s.time_basis,
        s.is_warmup,
        CASE WHEN NOT s.is_warmup THEN s.time_ns END AS time_ns,
        s.time_ns::DOUBLE * s.decode_count / nullif(s.token_count, 0) AS token_time_ns,
        s.gpu_span_ns + coalesce(s.between_ns, 0) AS whole_ns,
        s.busy_ns,
        s.launch_bound_ns,
        s.wait_ns,
        s.host_ns,
        s.between_ns,
        CASE WHEN s.time_basis = 'gpu_period' THEN greatest(s.gpu_span_ns - s.period_ns, 0) END AS overlap_ns,
        CASE WHEN s.graph_count = 0 THEN s.kernel_count END AS kernel_count
    FROM step s JOIN _timeline(run, source := source) t ON t.source_id = s.source_id
    WHERE s.run_id = run
        AND (device IS NULL OR s.device_id = device)
        AND (stage IS NULL OR s.stage = stage)
        AND _is_by("by", s.attribution, s.is_default)
), q AS (
    SELECT
        s.stage,
        count(*) FILTER (NOT s.is_warmup) AS step_count,
        sum(s.time_ns)::DOUBLE / count(s.time_ns) AS mean_ns,
        quantile_cont(s.time_ns, 0.5) AS p50_ns,
        quantile_cont(s.time_ns, 0.99) AS p99_ns,
        max(s.time_ns) AS max_ns,
        CASE
            WHEN count(s.token_time_ns) FILTER (s.time_ns IS NOT NULL) = count(s.time_ns)
                THEN _mean(CASE WHEN s.time_ns IS NOT NULL THEN s.token_time_ns END)
        END AS token_time_ns,
        sum(s.busy_ns) FILTER (s.time_ns IS NOT NULL) AS busy_ns,
        sum(s.launch_bound_ns) FILTER (s.time_ns IS NOT NULL) AS launch_bound_ns,
        CASE
            WHEN count(s.kernel_count) FILTER (s.time_ns IS NOT NULL) = count(s.time_ns)
                THEN (sum(s.kernel_count) FILTER (s.time_ns IS NOT NULL))::DOUBLE / count(s.time_ns)
        END AS kernel_mean_count,
        _std(s.time_ns) AS std_ns,
        min(s.time_ns) AS min_ns,
        quantile_cont(s.time_ns, 0.9) AS p90_ns,
        quantile_cont(s.time_ns, 0.95) AS p95_ns,
        s.name_path_id,
        s.kernel_name_id,
        s.device_id,
        s.time_basis,
        count(s.time_ns) AS timed_count,
        sum(s.wait_ns) FILTER (s.time_ns IS NOT NULL) AS wait_ns,
        sum(s.host_ns) FILTER (s.time_ns IS NOT NULL) AS host_ns,
        sum(s.between_ns) FILTER (s.time_ns IS NOT NULL) AS between_ns,
        sum(s.overlap_ns) FILTER (s.time_ns IS NOT NULL) AS shared_ns,
        sum(s.whole_ns) FILTER (s.time_ns IS NOT NULL) AS all_ns,
        CASE WHEN coalesce(shared_ns, 0) <= 0.01 * all_ns THEN all_ns END AS whole_ns,
        count(*) FILTER (s.is_warmup) AS warmup_count,
        s.basis,
        s.source_id,
        s.pid
    FROM s
    GROUP BY s.source_id, s.pid, s.device_id, s.stage, s.name_path_id, s.kernel_name_id, s.basis, s.time_basis
)
SELECT
    q.stage,
    q.step_count,
    q.mean_ns,
    q.p50_ns,
    q.p99_ns,
    q.max_ns,
    q.token_time_ns,
    q.busy_ns / q.whole_ns AS busy_ratio,
    q.launch_bound_ns / q.whole_ns AS launch_bound_ratio,
    q.kernel_mean_count,
    q.std_ns,
    q.min_ns,
    q.p90_ns,
    q.p95_ns,
    coalesce(p.name, k.name, 'graph replay') AS name,
    q.device_id AS device,
    q.time_basis,
    q.timed_count,
    q.wait_ns / q.whole_ns AS wait_ratio,
    q.host_ns / q.whole_ns AS host_ratio,
    q.between_ns / q.whole_ns AS between_ratio,
    q.shared_ns / q.all_ns AS overlap_ratio,
    q.warmup_count,
    q.basis,
    q.source_id,
    q.pid
FROM q
LEFT JOIN range_path p ON p.run_id = run AND p.path_id = q.name_path_id
LEFT JOIN kernel_name k ON k.run_id = run AND k.kernel_name_id = q.kernel_name_id
ORDER BY q.source_id, array_position(['prefill', 'decode'], q.stage) NULLS LAST, q.stage, name, q.pid, q.device_id
