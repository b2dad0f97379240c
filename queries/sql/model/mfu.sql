-- mfu v2: Model FLOPs utilisation by stage: operations that the model needs, divided by what the GPUs could have done in the time, at the dense peak of the precision.
-- grain: one stage
-- key: stage
-- notes: mfu pass throttle timelines stage launch range
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only work on this GPU, and only passes that have some
--   model BIGINT = NULL: model_id; by default a model given as a configuration of its own, else one from the facts of the workload
--   convention VARCHAR = 'full': attention of the prompt: full (all queries with all keys, as PyTorch and PaLM count) or causal (what a token may see)
--   mla VARCHAR = 'expanded': latent attention in decode: expanded (keys and values of the whole context are made anew at each step, as transformers does) or absorbed (as serving engines do)
--   head VARCHAR = 'last': positions of the prompt whose logits are computed: last or all
--   compute VARCHAR = NULL: precision that matrices are multiplied in: fp64, fp32, tf32, bf16, fp16, fp8, int8 or fp4; by default that of the configuration, else of the kernels' names
--   dtype VARCHAR = NULL: precision of weights and cache; by default as the configuration says, else the names of kernels
--   peak DOUBLE = NULL: operations a second of one GPU, e.g. 989.4T, in place of the table's (device_peak)
--   bandwidth DOUBLE = NULL: bytes a second of one GPU's memory, e.g. 4.8T, in place of the table's
--   time_basis VARCHAR = 'gpu_span': time of a pass: gpu_span (first start to last end of its device work), gpu_busy (union of its intervals), gpu_sum or cpu (the range on its thread)
--   ranks VARCHAR = NULL: where passes ran in several processes at once: shared (they worked on one batch together, as in tensor parallelism) or own (each on its own); without it utilisation is not known
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   stage: model (prefill and decode together), prefill, decode, others that the run has, and vision
--   passes: measured passes, over processes and repeats; warm-up left out
--   flop: mean operations of a pass, by the model's configuration and the tokens of the pass; NULL when not known
--   time_basis: what time_ns is
--   time_ns: mean time of a pass; NULL when a pass has none
--   peak_flop_per_s: dense peak of the GPUs that worked in a pass, together, or of one where time is added up over GPUs (gpu_busy, gpu_sum); NULL when not known
--   mfu_ratio: operations of all passes / (peak x their time). Over 1 is an error in what was given: tokens, model, peak or precision
--   mbu_ratio: memory bandwidth utilisation: bytes that must be read in all passes / (peak bandwidth x their time); NULL when not known
--   precision: precision of the peak
--   convention: how attention of the prompt is counted
--   mla: how latent attention is counted in decode; NULL for a model without
--   mfu_mean_ratio: mean of the passes' utilisations
--   mfu_std_ratio: their standard deviation (n-1); NULL for one pass
--   mbu_mean_ratio: mean of the passes' bandwidth utilisations
--   mbu_std_ratio: their standard deviation (n-1)
--   part_of: prefill for vision, which is part of it and in its figures; NULL for others
--   precision_origin: who says so: option, configuration, kernels (their names), or neither where these two disagree
--   peak_origin: where the peak of one GPU is from
--   device_count: GPUs that worked in a pass
--   is_least: whether operations are the least that they can be, since annotations do not tell contexts
--   fault: what is wrong with the row; NULL when nothing is

WITH r AS (
    SELECT r.precision, r.origin FROM _run_precision(run, model := model, compute := compute, dtype := dtype, source := source) r
), k AS (
    SELECT k.peak_flop_per_s, k.peak_bytes_per_s, k.peak_origin FROM _peak(run, device := device, compute := (SELECT r.precision FROM r), peak := peak, bandwidth := bandwidth, source := source) k
), u AS (
    SELECT u.stage, u.part_of, u.flop, u.weight_bytes + u.kv_bytes AS moved_bytes, u.time_ns, u.device_count, u.peak_count, u.is_least,
        u.flop / (k.peak_flop_per_s * u.peak_count * nullif(u.time_ns, 0) / 1e9) AS mfu_ratio, (u.weight_bytes + u.kv_bytes) / (k.peak_bytes_per_s * u.peak_count * nullif(u.time_ns, 0) / 1e9) AS mbu_ratio
    FROM _pass_use(run, device := device, source := source, model := model, convention := convention, mla := mla, head := head, dtype := dtype, time_basis := time_basis, ranks := ranks) u CROSS JOIN k
), s AS (
    SELECT u.stage, u.part_of, count(*) AS passes, CASE WHEN count(u.flop) = count(*) THEN sum(u.flop) END AS flop, CASE WHEN count(u.moved_bytes) = count(*) THEN list_sum(list(u.moved_bytes ORDER BY u.moved_bytes)) END AS moved_bytes,
        CASE WHEN count(nullif(u.time_ns, 0)) = count(*) THEN sum(u.time_ns) END AS time_ns, CASE WHEN count(nullif(u.time_ns, 0) * u.peak_count) = count(*) THEN sum(u.time_ns::HUGEINT * u.peak_count) END AS device_ns, max(u.device_count) AS device_count, max(u.peak_count) AS peak_count, bool_or(u.is_least) AS is_least, max(u.mfu_ratio) AS mfu_max, max(u.mbu_ratio) AS mbu_max,
        CASE WHEN count(u.mfu_ratio) = count(*) THEN _mean(u.mfu_ratio) END AS mfu_mean, CASE WHEN count(u.mfu_ratio) = count(*) THEN list_stddev_samp(list(u.mfu_ratio ORDER BY u.mfu_ratio)) END AS mfu_std,
        CASE WHEN count(u.mbu_ratio) = count(*) THEN _mean(u.mbu_ratio) END AS mbu_mean, CASE WHEN count(u.mbu_ratio) = count(*) THEN list_stddev_samp(list(u.mbu_ratio ORDER BY u.mbu_ratio)) END AS mbu_std
    FROM u GROUP BY ALL
)
SELECT s.stage, s.passes, s.flop::DOUBLE / s.passes AS flop, time_basis AS time_basis, s.time_ns::DOUBLE / s.passes AS time_ns, k.peak_flop_per_s * s.peak_count AS peak_flop_per_s,
    s.flop::DOUBLE / (k.peak_flop_per_s * s.device_ns / 1e9) AS mfu_ratio, s.moved_bytes / (k.peak_bytes_per_s * s.device_ns / 1e9) AS mbu_ratio,
    r.precision, convention AS convention,
    CASE WHEN EXISTS (SELECT 1 FROM model_layer l WHERE l.run_id = run AND l.model_id = _model_id(run, model) AND l.scope = 'latent') THEN mla END AS mla,
    s.mfu_mean AS mfu_mean_ratio, s.mfu_std AS mfu_std_ratio, s.mbu_mean AS mbu_mean_ratio, s.mbu_std AS mbu_std_ratio, s.part_of,
    r.origin AS precision_origin, k.peak_origin, s.device_count, s.is_least,
    CASE WHEN s.mfu_max > 1 THEN 'MFU is over 1: tokens, model, peak or precision are not right'
        WHEN s.mbu_max > 1 THEN 'MBU is over 1: tokens, model, precision or bandwidth are not right' END AS fault
FROM s CROSS JOIN k CROSS JOIN r
ORDER BY coalesce(array_position(['model', 'prefill', 'decode', 'vision'], s.stage), 3.5), s.stage
