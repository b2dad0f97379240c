-- large-kernels v2: Kernels that take a tenth of a stage's GPU time or more in its median pass, and what is known of what limits each:
--     by Nsight Compute, by the inputs of its operator, by the sizes of a model's products, by its name and by its grid.
-- grain: one kernel of one stage, on the GPU of which it takes the largest share
-- key: stage, kernel
-- notes: finding-span pass timelines stage
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage; (none) for all device work of a run without measured passes
--   {source}
-- columns:
--   stage: the stage; NULL: all device work of a run without measured passes
--   kernel: kernel name
--   share_ratio: pass_ns as a share of the time in which work of the pass ran on the GPU; of kernels that ran side by side each has a part
--   limit: what limits it, the first that holds: ranks (a collective, whose time includes waiting for other ranks); roof (its roof_ratio is
--     at least the threshold of below-roof); below-roof (it is lower); tensor-cores (it multiplies in FP32 outside of them); grid (blocks
--     for less than 90 % of the SMs); NULL: nothing is known
--   roof_ratio: how near it is to the roof: as Nsight Compute measured 90 % of its time or more, else by the inputs of the calls of its
--     operator, else of the matrix products that 95 % of its time are, as in gemm-speed; NULL when none is known
--   roof_basis: where roof_ratio is from: ncu, operator or product; NULL without it
--   bound: what bounds it by roof_basis: latency, memory or compute; NULL when unknown
--   limiter: the unit or resource that does, by Nsight Compute; NULL when not measured
--   operator: operator of PyTorch that launched most of it; NULL when none is known
--   blocks: blocks of its smallest grid; NULL when unknown
--   most_blocks: blocks of its largest grid; NULL when unknown
--   sm_count: streaming multiprocessors of the GPU; NULL when unknown
--   input_precision: format of what it multiplies in FP32 outside tensor cores: fp32, bf16 or fp16; NULL for other kernels
--   findings: rules that have a finding about it, by what they could save: those of rules about kernels; NULL without one
--   calls: executions in the measured passes
--   total_ns: sum of their durations
--   pass_calls: executions in the median pass; of all device work, all, as pass_ns
--   pass_ns: sum of their durations
--   path_pass_ns: by how much the median pass would be shorter at most without it, by the critical path; 0 where launches or other work
--     end later all the same, NULL when unknown
--   passes: measured passes of the stage on the GPU
--   role: what it does, by kernel_rule; NULL when unknown
--   device: GPU of which it takes the largest share
--   device_count: GPUs on which it takes a tenth or more
--   plan_rank: its rank among the kernels that prof capture profiles with Nsight Compute (--ncu-top); NULL for collectives

WITH found AS (
    SELECT
        f.kind,
        f.stage,
        f.device_id,
        f.subject,
        string_agg(f.finding_id, ', ' ORDER BY f.saving_ns DESC, f.finding_id) AS findings
    FROM finding f JOIN finding_rule r ON r.finding_id = f.finding_id
    WHERE f.run_id = run AND r.subject = 'kernel'
    GROUP BY f.kind, f.stage, f.device_id, f.subject
), product AS (
    SELECT
        g.stage,
        g.kernel,
        sum(g.attained_ratio * g.total_ns) / sum(g.total_ns) FILTER (g.unknown IS NULL) AS roof_ratio,
        arg_max(g.side, g.total_ns) AS side
    FROM gemm_speed(run::VARCHAR, stage := stage, source := source) g
    GROUP BY g.stage, g.kernel
    HAVING sum(g.total_ns) FILTER (g.unknown IS NULL) >= 0.95 * sum(g.total_ns)
), k AS (
    SELECT
        l.kind,
        l.stage,
        l.device_id,
        n.name,
        l.role,
        l.pass_count,
        l.launch_count,
        l.sum_ns,
        l.pass_launch_count,
        l.pass_ns,
        l.share_ratio,
        l.path_ns,
        l.least_block_count,
        l.most_block_count,
        l.sm_count,
        l.is_plain,
        l.input_precision,
        l.bound,
        l.limiter,
        l.operator,
        l.operator_ratio,
        l.operator_side,
        l.nth,
        CASE WHEN l.profiled_ns >= 0.9 * l.sum_ns THEN l.profiled_ratio END AS ncu_ratio,
        p.roof_ratio AS product_ratio,
        p.side AS product_side,
        coalesce(ncu_ratio, l.operator_ratio, product_ratio) AS roof_ratio,
        count(*) OVER of AS device_count,
        row_number() OVER (of ORDER BY l.share_ratio DESC, l.device_id) AS place
    FROM large_kernel l
    JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = l.kernel_name_id
    LEFT JOIN product p ON p.stage = l.stage AND p.kernel = n.name
    WHERE l.run_id = run
        AND _is_asked(l.kind, l.is_counted, source)
        AND (stage IS NULL OR coalesce(l.stage, '(none)') = stage)
    WINDOW of AS (PARTITION BY l.kind, l.stage, l.kernel_name_id)
)
SELECT
    k.stage,
    k.name AS kernel,
    k.share_ratio,
    CASE
        WHEN k.role = 'collective' THEN 'ranks'
        WHEN k.roof_ratio >= near.value THEN 'roof'
        WHEN k.roof_ratio < near.value THEN 'below-roof'
        WHEN k.is_plain THEN 'tensor-cores'
        WHEN k.most_block_count < 0.9 * k.sm_count THEN 'grid'
    END AS "limit",
    k.roof_ratio,
    CASE
        WHEN k.ncu_ratio IS NOT NULL THEN 'ncu'
        WHEN k.operator_ratio IS NOT NULL THEN 'operator'
        WHEN k.product_ratio IS NOT NULL THEN 'product'
    END AS roof_basis,
    CASE
        WHEN k.ncu_ratio IS NOT NULL THEN nullif(k.bound, 'unknown')
        WHEN k.operator_ratio IS NOT NULL THEN k.operator_side
        ELSE k.product_side
    END AS bound,
    CASE WHEN k.ncu_ratio IS NOT NULL THEN k.limiter END AS limiter,
    k.operator,
    k.least_block_count AS blocks,
    k.most_block_count AS most_blocks,
    k.sm_count,
    k.input_precision,
    f.findings,
    k.launch_count AS calls,
    k.sum_ns AS total_ns,
    k.pass_launch_count AS pass_calls,
    k.pass_ns,
    k.path_ns AS path_pass_ns,
    k.pass_count AS passes,
    k.role,
    k.device_id AS device,
    k.device_count,
    k.nth AS plan_rank
FROM k
JOIN finding_rule near ON near.finding_id = 'below-roof'
LEFT JOIN found f
    ON f.kind = k.kind AND f.stage IS NOT DISTINCT FROM k.stage AND f.device_id = k.device_id AND f.subject = k.name
WHERE k.place = 1
ORDER BY k.stage NULLS LAST, k.share_ratio DESC, k.name
