-- stage-kernels v3: Kernels of measured passes by the stage that launched them; the rows and what notes say is left out
--     add up to all kernel time.
-- grain: one stage and kernel name
-- key: stage, kernel
-- notes: graph timelines launch left-kernels
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage; (none) for kernels outside every stage
--   device BIGINT = NULL: only this GPU
--   top BIGINT = 0: maximum kernels per stage; 0 for all
--   warmup BOOLEAN = false: count warm-up passes too, and what is outside stages
--   {source}
-- columns:
--   stage: the stage; (none) for kernels launched outside every stage or without a captured launch
--   kernel: demangled name
--   calls: executions
--   total_ns: sum of the durations
--   mean_ns: mean duration
--   min_ns: shortest duration
--   max_ns: longest duration
--   share_ratio: total_ns as a share of the stage's kernel time
--   role: what kernels of the family do; NULL when no rule matches
--   family: kernel family by kernel_rule; NULL when no rule matches

WITH t AS (
    SELECT
        k.stage,
        k.kernel_name_id,
        sum(k.launch_count)::BIGINT AS calls,
        sum(k.launch_count * k.duration_ns)::BIGINT AS total_ns,
        min(k.duration_ns) AS min_ns,
        max(k.duration_ns) AS max_ns
    FROM _ranked_kernel(run, stage := stage, device := device, warmup := warmup, source := source) k
    WHERE NOT k.is_left
    GROUP BY k.stage, k.kernel_name_id
), q AS (
    SELECT
        t.stage,
        n.name AS kernel,
        t.calls,
        t.total_ns,
        t.total_ns / t.calls AS mean_ns,
        t.min_ns,
        t.max_ns,
        t.total_ns / nullif(sum(t.total_ns) OVER (PARTITION BY t.stage), 0) AS share_ratio,
        c.role,
        c.family,
        sum(t.total_ns) OVER (PARTITION BY t.stage) AS stage_ns,
        row_number() OVER (PARTITION BY t.stage ORDER BY t.total_ns DESC, n.name) AS place
    FROM t
    JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = t.kernel_name_id
    LEFT JOIN kernel_class c ON c.run_id = n.run_id AND c.kernel_name_id = n.kernel_name_id
)
SELECT
    q.stage,
    q.kernel,
    q.calls,
    q.total_ns,
    q.mean_ns,
    q.min_ns,
    q.max_ns,
    q.share_ratio,
    q.role,
    q.family
FROM q
WHERE top = 0 OR q.place <= top
ORDER BY q.stage = '(none)', q.stage_ns DESC, q.stage, q.place
