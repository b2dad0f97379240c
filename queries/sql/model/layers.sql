-- layers v1: Where the GPU time of one decoder layer goes, by part; which layers differ; and what is outside layers.
-- grain: one part of equal layers, of one layer, or of what is outside layers, in a stage on a GPU
-- key: stage, device, layers, part
-- notes: layers pass graph launch range stage timelines
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage
--   by VARCHAR = 'group': group (equal layers together) or layer (each apart)
--   device BIGINT = NULL: only work on this GPU
--   short BOOLEAN = false: only passes that can be divided, and of each stage the first GPU of these
--   with_totals BOOLEAN = false: show what the means are made of
--   {source}
-- columns:
--   stage: stage; one measured pass of it, whose kernels take the median time
--   layers: the layers: of the same sequence of kernels, and all within 20 % of the median time of these, or all off it on the same side;
--     outside; NULL when the pass cannot be divided
--   part: attention, mlp, router, experts, shared experts, norms, rotary, copies, collectives, other (as the sum with the residual);
--     outside layers also embedding, head, sampling, vision and encoder; NULL when the pass cannot be divided
--   mean_ns: time of its kernels in one layer of a forward pass; outside layers in a forward pass; NULL when the pass cannot be divided
--   kernel_count: its kernels in one layer of a forward pass, likewise
--   layer_ratio: mean_ns as a share of the layer; NULL outside layers
--   share_ratio: total_ns as a share of all kernels of the pass
--   layer_ns: time of all kernels of one layer in a forward pass; NULL outside layers
--   off_ratio: layer_ns over the median of layers with the same sequence of kernels, less 1; of several layers that of the one furthest
--     off; NULL where it is the only one, and outside layers
--   unknown: why the pass cannot be divided: attention (no two kernels of attention), sequence (of kernels, of which less than 95 %
--     repeats from layer to layer), layers (the sequence repeats as no model of this depth does), graph (graphs traced as a whole); NULL
--     when it can
--   layer_count [with_totals]: number of the layers; NULL outside layers
--   forward_count [with_totals]: forward passes in the pass; NULL when it cannot be divided
--   total_ns [with_totals]: time of its kernels in the pass; over all rows of a stage and GPU it adds up to all kernels of the pass
--   total_kernel_count [with_totals]: its kernels in the pass
--   basis [with_totals]: what layers are found by: names (of PyTorch modules or ranges) or sequence (of kernels); NULL when the pass
--     cannot be divided
--   device: GPU
--   range_id [with_totals]: the pass

WITH p AS (
    SELECT
        p.stage,
        p.device_id,
        p.range_id,
        CASE "by"
            WHEN 'group' THEN p.layer_group
            WHEN 'layer' THEN 'layer ' || p.layer
            ELSE error('ARGUMENT: --by is group or layer')
        END AS layers,
        p.layer,
        p.part,
        p.forward_count,
        p.kernel_count,
        p.kernel_ns,
        p.off_ratio,
        p.basis,
        p.unknown
    FROM layer_part p
    WHERE p.run_id = run
        AND p.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND (stage IS NULL OR p.stage = stage)
        AND (device IS NULL OR p.device_id = device)
        AND (NOT short OR p.unknown IS NULL)
    QUALIFY NOT short OR p.device_id = min(p.device_id) OVER (PARTITION BY p.stage)
), size AS (
    SELECT
        p.stage,
        p.device_id,
        p.layers,
        min(p.layer) AS first_layer,
        count(DISTINCT p.layer) AS layer_count,
        arg_max(p.off_ratio, abs(p.off_ratio)) AS off_ratio,
        sum(p.kernel_ns) AS kernel_ns
    FROM p
    WHERE p.layers IS NOT NULL
    GROUP BY p.stage, p.device_id, p.layers
), part AS (
    SELECT
        p.stage,
        p.device_id,
        p.range_id,
        p.layers,
        p.part,
        p.forward_count,
        p.basis,
        p.unknown,
        sum(p.kernel_count)::BIGINT AS kernel_count,
        sum(p.kernel_ns)::BIGINT AS kernel_ns
    FROM p
    GROUP BY ALL
), x AS (
    SELECT
        p.stage,
        p.device_id,
        p.range_id,
        p.layers,
        p.part,
        p.forward_count,
        p.basis,
        p.unknown,
        p.kernel_count,
        p.kernel_ns,
        s.first_layer,
        s.off_ratio,
        s.layer_count,
        p.forward_count * coalesce(s.layer_count, 1) AS part_count,
        s.kernel_ns / part_count AS layer_ns,
        sum(p.kernel_ns) OVER (PARTITION BY p.stage, p.device_id) AS pass_ns,
        sum(p.kernel_ns) OVER (PARTITION BY p.stage) AS stage_ns
    FROM part p LEFT JOIN size s ON s.stage = p.stage AND s.device_id = p.device_id AND s.layers = p.layers
)
SELECT
    x.stage,
    CASE WHEN x.unknown IS NULL THEN coalesce(x.layers, 'outside') END AS layers,
    x.part,
    x.kernel_ns / x.part_count AS mean_ns,
    x.kernel_count / x.part_count AS kernel_count,
    x.kernel_ns / x.part_count / nullif(x.layer_ns, 0) AS layer_ratio,
    x.kernel_ns / nullif(x.pass_ns, 0) AS share_ratio,
    x.layer_ns,
    x.off_ratio,
    x.unknown,
    x.layer_count,
    x.forward_count,
    x.kernel_ns AS total_ns,
    x.kernel_count AS total_kernel_count,
    x.basis,
    x.device_id AS device,
    x.range_id
FROM x
ORDER BY x.stage_ns DESC, x.stage, x.device_id, x.layers IS NULL, x.first_layer, x.kernel_ns DESC, x.part
