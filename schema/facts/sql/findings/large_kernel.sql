-- large_kernel: Kernels that take a tenth of a stage's GPU time or more in its median pass, with what is known of what limits each.
-- grain: one stage, GPU and kernel name, per timeline kind
-- key: kind, stage, device_id, kernel_name_id
-- needs: _finding_work
-- columns:
--   kind VARCHAR: {timelines}
--   is_counted BOOLEAN: as in timeline
--   stage VARCHAR: the stage; NULL: all device work of a timeline without measured passes
--   device_id INTEGER: GPU
--   kernel_name_id BIGINT: kernel name
--   role VARCHAR: what kernels of the family do, by kernel_rule; NULL when unknown
--   pass_count BIGINT: as in finding_span
--   launch_count BIGINT: executions in the passes
--   sum_ns BIGINT: sum of their durations
--   pass_launch_count DOUBLE: executions in the median pass; of all device work all, like the next two
--   pass_ns DOUBLE: sum of their durations
--   share_ratio DOUBLE: pass_ns as a share of the time in which work of the pass ran; of kernels that ran side by side each has a part
--   path_ns DOUBLE: by how much the pass would be shorter at most if it took no time: that share of pass_ns which critical paths show;
--     NULL when unknown, and for collectives, which paths count as waiting
--   least_block_count BIGINT: blocks of its smallest grid; NULL when some are unknown
--   most_block_count BIGINT: blocks of its largest grid; NULL likewise
--   sm_count BIGINT: streaming multiprocessors of the GPU; NULL when unknown
--   is_plain BOOLEAN: whether it multiplies in FP32 outside tensor cores, by its name
--   input_precision VARCHAR: format of what such a kernel multiplies, by its name: fp32, bf16 or fp16; NULL for other kernels
--   profiled_ns BIGINT: part of sum_ns in grids whose throughput Nsight Compute measured
--   profiled_ratio DOUBLE: the higher of compute and memory throughput of their peaks, mean over profiled_ns; NULL without one
--   bound VARCHAR: what limits the profiled grid with the most time, as in bottlenecks; NULL without one
--   limiter VARCHAR: the unit or resource that does, as in bottlenecks; NULL when not measured
--   operator VARCHAR: operator of PyTorch that launched most of it, in all passes; NULL when none is known
--   operator_ratio DOUBLE: least time by the GPU's peaks of the calls that launched it, by FLOP and bytes of their inputs, as a share of
--     their device time. NULL where that is not known of 95 % of its time, where half or more of their device time is other kernels', and
--     where bytes are a bound from which a ratio above or below the threshold of below-roof does not follow
--   operator_side VARCHAR: memory or compute: the peak that is the longer of most of that time; NULL as operator_ratio
--   nth BIGINT: rank by sum_ns over all stages and GPUs among kernels that are not collectives, as in ncu-plan; NULL for collectives

WITH near AS (
    SELECT r.value AS ratio
    FROM finding_rule r
    WHERE r.finding_id = 'below-roof'
), work AS (
    SELECT
        w.kind,
        w.stage,
        w.device_id,
        w.kernel_name_id,
        any_value(w.role) AS role,
        sum(w.launch_count)::BIGINT AS launch_count,
        sum(w.sum_ns)::BIGINT AS sum_ns,
        sum(w.pass_launch_count) AS pass_launch_count,
        sum(w.pass_ns) AS pass_ns,
        sum(w.pass_own_ns) AS pass_own_ns,
        CASE WHEN count(*) = count(w.block_count) THEN min(w.block_count) END AS least_block_count,
        CASE WHEN count(*) = count(w.block_count) THEN max(w.block_count) END AS most_block_count
    FROM _finding_work w
    GROUP BY w.kind, w.stage, w.device_id, w.kernel_name_id
), large AS (
    SELECT
        s.is_counted,
        s.pass_count,
        w.kind,
        w.stage,
        w.device_id,
        w.kernel_name_id,
        w.role,
        w.launch_count,
        w.sum_ns,
        w.pass_launch_count,
        w.pass_ns,
        w.pass_own_ns / CASE WHEN s.stage IS NULL THEN s.busy_ns ELSE s.pass_busy_ns END AS share_ratio,
        w.least_block_count,
        w.most_block_count
    FROM work w
    JOIN finding_span s
        ON s.run_id = $run AND s.kind = w.kind AND s.stage IS NOT DISTINCT FROM w.stage AND s.device_id = w.device_id
    WHERE w.pass_own_ns > 0 AND share_ratio >= 0.1
), ranked AS (
    SELECT
        w.kind,
        w.kernel_name_id,
        row_number() OVER (PARTITION BY w.kind ORDER BY sum(w.sum_ns) DESC, w.kernel_name_id) AS nth
    FROM work w
    WHERE w.role IS DISTINCT FROM 'collective'
    GROUP BY w.kind, w.kernel_name_id
), profile AS (
    SELECT
        f.kind,
        f.stage,
        f.device_id,
        f.timeline_name_id AS kernel_name_id,
        sum(f.sum_ns)::BIGINT AS profiled_ns,
        sum(f.sum_ns * f.roof_ratio) / sum(f.sum_ns) AS profiled_ratio,
        arg_max({'bound': f.bound, 'limiter': f.limiter}, (f.sum_ns, f.grid, f.block)) AS top
    FROM _finding_profile f
    WHERE f.roof_ratio IS NOT NULL AND f.sum_ns > 0
    GROUP BY f.kind, f.stage, f.device_id, f.timeline_name_id
), gpu AS (
    SELECT
        d.source_id,
        CASE WHEN count(*) = count(d.name) AND min(d.name) = max(d.name) THEN min(d.name) END AS name
    FROM device d
    WHERE d.run_id = $run
    GROUP BY d.source_id
), cost AS ( -- calls by their inputs; one whose cost is unknown makes theirs unknown
    SELECT
        c.op_name_id,
        i.shapes,
        i.types,
        c.stage,
        sum(c.self_device_ns) AS device_ns,
        CASE
            WHEN bool_and(
                    c.unknown IS NULL AND d.bytes_per_s IS NOT NULL AND (p.flop_per_s IS NOT NULL OR c.precision IS NULL)
                )
                THEN sum(
                    (c.call_count + c.replay_count)
                    * greatest(
                        1e9 * (c.read_bytes + c.write_bytes) / d.bytes_per_s,
                        coalesce(1e9 * c.masked_flop_count / p.flop_per_s, 0)
                    )
                )
        END AS roof_ns,
        sum((c.call_count + c.replay_count) * 1e9 * (c.read_bytes + c.write_bytes) / d.bytes_per_s) AS memory_ns,
        bool_or(c.bytes_bound = 'upper') AS is_most,
        bool_or(c.bytes_bound = 'lower') AS is_least
    FROM op_cost c
    JOIN op_input i ON i.run_id = c.run_id AND i.op_input_id = c.op_input_id
    LEFT JOIN gpu g ON g.source_id = c.source_id
    LEFT JOIN _precision_roof p ON p.name = g.name AND p.precision = c.precision
    LEFT JOIN _device_roof d ON d.name = g.name AND d.resource = 'dram'
    WHERE c.run_id = $run
    GROUP BY c.op_name_id, i.shapes, i.types, c.stage
), launched AS ( -- another kind of timeline may know the operators: its tool spells the names in its own way
    SELECT
        l.kind,
        l.stage,
        l.device_id,
        l.kernel_name_id,
        list_last(o.op_name_ids) AS op_name_id,
        o.stage AS op_stage,
        i.shapes,
        i.types,
        sum(o.total_ns) AS kernel_ns
    FROM large l
    JOIN kernel_spelling s ON s.run_id = $run AND s.kernel_name_id = l.kernel_name_id
    JOIN kernel_spelling x ON x.run_id = $run AND x.spelling = s.spelling
    JOIN op_node o
        ON o.run_id = $run
        AND o.kernel_name_id = x.kernel_name_id
        AND o.op_name_ids IS NOT NULL
        AND (l.stage IS NULL OR o.stage = l.stage)
    LEFT JOIN op_input i ON i.run_id = $run AND i.op_input_id = o.op_input_id
    GROUP BY ALL
), called AS (
    SELECT
        l.kind,
        l.stage,
        l.device_id,
        l.kernel_name_id,
        arg_max(l.op_name_id, (l.kernel_ns, l.op_name_id)) AS op_name_id,
        sum(l.kernel_ns) AS kernel_ns,
        sum(l.kernel_ns) FILTER (c.roof_ns IS NOT NULL) AS known_ns,
        sum(c.device_ns) FILTER (c.roof_ns IS NOT NULL) AS device_ns,
        sum(c.roof_ns) AS roof_ns,
        sum(c.roof_ns) FILTER (c.memory_ns >= c.roof_ns) AS memory_ns,
        coalesce(bool_or(c.is_most) FILTER (c.roof_ns IS NOT NULL), false) AS is_most,
        coalesce(bool_or(c.is_least) FILTER (c.roof_ns IS NOT NULL), false) AS is_least
    FROM launched l
    LEFT JOIN cost c
        ON c.op_name_id = l.op_name_id AND c.shapes = l.shapes AND c.types = l.types AND c.stage = l.op_stage
    GROUP BY l.kind, l.stage, l.device_id, l.kernel_name_id
), operator AS (
    SELECT
        c.kind,
        c.stage,
        c.device_id,
        c.kernel_name_id,
        n.name AS operator,
        CASE
            WHEN c.known_ns >= 0.95 * c.kernel_ns
                AND c.known_ns > 0.5 * c.device_ns
                AND NOT (c.is_most AND c.is_least)
                AND NOT (c.is_most AND c.roof_ns >= near.ratio * c.device_ns)
                AND NOT (c.is_least AND c.roof_ns < near.ratio * c.device_ns)
                THEN c.roof_ns / c.device_ns
        END AS ratio,
        CASE WHEN coalesce(c.memory_ns, 0) >= 0.5 * c.roof_ns THEN 'memory' ELSE 'compute' END AS side
    FROM called c CROSS JOIN near JOIN op_name n ON n.run_id = $run AND n.op_name_id = c.op_name_id
)
SELECT
    l.kind,
    l.is_counted,
    l.stage,
    l.device_id,
    l.kernel_name_id,
    l.role,
    l.pass_count,
    l.launch_count,
    l.sum_ns,
    l.pass_launch_count,
    l.pass_ns,
    l.share_ratio,
    CASE WHEN l.role IS DISTINCT FROM 'collective' THEN l.pass_ns * (c.saving_ns / l.sum_ns) END AS path_ns,
    l.least_block_count,
    l.most_block_count,
    d.sm_count,
    coalesce(l.role IN ('gemm', 'convolution') AND p.is_plain, false) AS is_plain,
    CASE WHEN l.role IN ('gemm', 'convolution') AND p.is_plain THEN coalesce(p.precision, 'fp32') END AS input_precision,
    coalesce(f.profiled_ns, 0) AS profiled_ns,
    f.profiled_ratio,
    f.top.bound AS bound,
    nullif(f.top.limiter, '') AS limiter,
    o.operator,
    o.ratio AS operator_ratio,
    CASE WHEN o.ratio IS NOT NULL THEN o.side END AS operator_side,
    r.nth
FROM large l
LEFT JOIN ranked r ON r.kind = l.kind AND r.kernel_name_id = l.kernel_name_id
LEFT JOIN _finding_gpu d ON d.kind = l.kind AND d.device_id = l.device_id
LEFT JOIN _name_precision p ON p.kernel_name_id = l.kernel_name_id
LEFT JOIN _finding_path c
    ON c.kind = l.kind
    AND c.stage IS NOT DISTINCT FROM l.stage
    AND c.device_id = l.device_id
    AND c.kernel_name_id = l.kernel_name_id
LEFT JOIN profile f
    ON f.kind = l.kind
    AND f.stage IS NOT DISTINCT FROM l.stage
    AND f.device_id = l.device_id
    AND f.kernel_name_id = l.kernel_name_id
LEFT JOIN operator o
    ON o.kind = l.kind
    AND o.stage IS NOT DISTINCT FROM l.stage
    AND o.device_id = l.device_id
    AND o.kernel_name_id = l.kernel_name_id
