-- gemm-speed v1: How fast the matrix products of a model's layers ran, without Nsight Compute: sizes from the configuration, time from the
--     timeline, matched by order and count.
-- grain: one product and kernel in a stage, of equal layers together or of one layer; without a product one kernel, apart by the reason
-- key: stage, layers, component, kernel, grid, unknown
-- notes: gemm peak pass graph launch range stage timelines
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage
--   by VARCHAR = 'product': product (of equal layers together) or layer (each apart)
--   device BIGINT = NULL: only work on this GPU
--   compute VARCHAR = NULL: precision of matrix products: fp64, fp32, tf32, bf16, fp16, fp8, int8 or fp4; default: that of the
--     configuration, else of the kernel names
--   peak DOUBLE = NULL: peak FLOP/s of one GPU, e.g. 989.4T, instead of the table's (device_peak)
--   bandwidth DOUBLE = NULL: peak memory bandwidth of one GPU in bytes/s, e.g. 4.8T, instead of the table's
--   {source}
-- columns:
--   stage: stage of the passes; warm-up excluded
--   layers: the layers; NULL without a product
--   component: component of the model, as in model-layers, several computed as one product joined by +; experts, attention scores or
--     attention values; NULL without a product
--   calls: calls
--   mean_ns: time of a call
--   achieved_bytes_per_s: bytes / mean_ns
--   dram_ratio: achieved_bytes_per_s as a share of the DRAM bandwidth. Over 1 where data came out of the L2 cache
--   achieved_flop_per_s: flop / mean_ns
--   flop_ratio: achieved_flop_per_s as a share of the dense peak
--   share_ratio: total_ns as a share of the time of all matrix products of the stage
--   matched_ratio: calls of the stage's matrix products that fit one of the model's by order, count and kernel, as a share of all but
--     those of vision parts and one in front of the first layer, as of a rotary table. Below 0.95 no product of the stage has figures
--   unknown: why there are no figures: as in gemm_product, or quantised (weights), precision (of the kernel is not the model's, or not
--     known), positions (whose logits are computed), over-peak (an input is wrong), no-peak; NULL when known
--   kernel: demangled name
--   side: memory or compute: the peak that bounds it
--   attained_ratio: share of the roof: the larger of dram_ratio and flop_ratio
--   total_ns: time of the calls, with reduce_ns
--   reduce_ns: time of kernels that add up the parts of split products (split-K), part of total_ns
--   row_count: rows that a call multiplies (m): tokens of the pass, mean over the calls; NULL when unknown, as the next two
--   output_count: outputs of the matrix (n), on one rank
--   input_count: inputs of the matrix (k), on one rank
--   flop: FLOP of a call, 2 m n k; NULL when there are no figures, as bytes
--   bytes: bytes that a call must move: weights once, inputs and outputs
--   grid: grid size in blocks, x * y * z; NULL when not recorded
--   rank_count: ranks that share the product; NULL when unknown
--   precision: precision of matrix products of the run
--   roof_flop_per_s: dense peak of the device in this precision; NULL when unknown
--   roof_bytes_per_s: DRAM bandwidth of the device; NULL when unknown
--   device: device name; NULL when unknown, or when GPUs differ

WITH r AS (
    SELECT r.precision, r.seen, r.is_disputed
    FROM _run_precision(run, compute := compute, source := source) r
), weight AS (
    SELECT _dtype_bits(coalesce(m.dtype, r.seen)) / 8 AS bytes
    FROM model_size m CROSS JOIN r
    WHERE m.run_id = run AND m.is_counted
), peaks AS (
    SELECT k.device, k.peak_flop_per_s, k.peak_bytes_per_s
    FROM r CROSS JOIN _peak(
        run, device := device, compute := r.precision, peak := peak, bandwidth := bandwidth, source := source
    ) k
), part AS (
    SELECT
        g.stage,
        CASE "by"
            WHEN 'product' THEN g.layer_group
            WHEN 'layer' THEN coalesce('layer ' || g.layer, g.layer_group)
            ELSE error('ARGUMENT: --by is product or layer')
        END AS layers,
        g.component,
        g.kernel_name_id,
        g.kernel_shape_id,
        g.input_size AS k,
        g.output_size AS n,
        g.rank_count,
        g.bias_count,
        g.weight_bits,
        g.precision AS named,
        g.unknown,
        min(g.layer) AS first_layer,
        sum(g.row_count) AS row_count,
        sum(g.all_row_count) AS all_row_count,
        sum(g.call_count) AS calls,
        sum(g.matched_count) AS matched,
        sum(g.product_count) AS products,
        sum(g.kernel_ns + g.reduce_ns) AS total_ns,
        sum(g.reduce_ns) AS reduce_ns
    FROM gemm_product g
    WHERE g.run_id = run
        AND g.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND (device IS NULL OR g.device_id = device)
        AND (stage IS NULL OR g.stage = stage)
    GROUP BY ALL
), sized AS (
    SELECT
        p.stage,
        p.layers,
        p.component,
        p.kernel_name_id,
        p.kernel_shape_id,
        p.k,
        p.n,
        p.rank_count,
        p.first_layer,
        p.row_count,
        p.calls,
        p.matched,
        p.products,
        p.total_ns,
        p.reduce_ns,
        2.0 * p.n * p.k AS row_flop,
        k.device,
        k.peak_flop_per_s,
        k.peak_bytes_per_s,
        r.precision,
        row_flop * p.row_count AS flop,
        w.bytes * (p.calls * (p.n * p.k + p.bias_count) + p.row_count * (p.n + p.k)) AS bytes,
        k.peak_flop_per_s * p.total_ns / 1e9 AS possible_flop,
        coalesce(
            p.unknown,
            CASE
                WHEN p.weight_bits IS NOT NULL THEN 'quantised'
                WHEN w.bytes IS NULL OR r.is_disputed OR p.named <> r.precision THEN 'precision'
                WHEN k.peak_flop_per_s IS NULL OR k.peak_bytes_per_s IS NULL THEN 'no-peak'
                WHEN flop > possible_flop THEN 'over-peak'
                WHEN p.all_row_count > p.row_count AND row_flop * p.all_row_count <= possible_flop THEN 'positions'
            END
        ) AS reason
    FROM part p CROSS JOIN r CROSS JOIN peaks k LEFT JOIN weight w ON true
), rated AS (
    SELECT
        s.stage,
        s.layers,
        s.component,
        s.kernel_name_id,
        s.kernel_shape_id,
        s.k,
        s.n,
        s.rank_count,
        s.first_layer,
        s.row_count,
        s.calls,
        s.total_ns,
        s.reduce_ns,
        s.device,
        s.peak_flop_per_s,
        s.peak_bytes_per_s,
        s.precision,
        s.reason,
        CASE WHEN s.reason IS NULL THEN s.flop / s.calls END AS call_flop,
        CASE WHEN s.reason IS NULL THEN s.bytes / s.calls END AS call_bytes,
        CASE WHEN s.reason IS NULL THEN 1e9 * s.flop / s.total_ns END AS flop_per_s,
        CASE WHEN s.reason IS NULL THEN 1e9 * s.bytes / s.total_ns END AS bytes_per_s,
        flop_per_s / s.peak_flop_per_s AS flop_ratio,
        bytes_per_s / s.peak_bytes_per_s AS dram_ratio
    FROM sized s
), whole AS (
    SELECT
        s.stage,
        sum(s.total_ns) AS total_ns,
        sum(s.matched) / nullif(sum(s.products), 0) AS matched_ratio
    FROM sized s
    GROUP BY s.stage
)
SELECT
    x.stage,
    x.layers,
    x.component,
    x.calls::BIGINT AS calls,
    x.total_ns / x.calls AS mean_ns,
    x.bytes_per_s AS achieved_bytes_per_s,
    x.dram_ratio,
    x.flop_per_s AS achieved_flop_per_s,
    x.flop_ratio,
    x.total_ns / nullif(w.total_ns, 0) AS share_ratio,
    w.matched_ratio,
    x.reason AS unknown,
    n.name AS kernel,
    CASE WHEN x.dram_ratio >= x.flop_ratio THEN 'memory' WHEN x.flop_ratio > x.dram_ratio THEN 'compute' END AS side,
    greatest(x.flop_ratio, x.dram_ratio) AS attained_ratio,
    x.total_ns::BIGINT AS total_ns,
    x.reduce_ns::BIGINT AS reduce_ns,
    CASE WHEN x.reason IS DISTINCT FROM 'positions' THEN x.row_count / x.calls END AS row_count,
    x.n AS output_count,
    x.k AS input_count,
    x.call_flop AS flop,
    x.call_bytes AS bytes,
    _dims(h.grid_x, h.grid_y, h.grid_z) AS grid,
    x.rank_count,
    x.precision,
    x.peak_flop_per_s AS roof_flop_per_s,
    x.peak_bytes_per_s AS roof_bytes_per_s,
    x.device
FROM rated x
JOIN whole w ON w.stage = x.stage
JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = x.kernel_name_id
LEFT JOIN kernel_shape h ON h.run_id = run AND h.kernel_shape_id = x.kernel_shape_id
ORDER BY w.total_ns DESC, x.stage, x.component IS NULL, CASE "by" WHEN 'layer' THEN x.first_layer END, x.total_ns DESC, x.layers,
    x.component, n.name, grid, x.reason
