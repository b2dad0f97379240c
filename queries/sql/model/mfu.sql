-- mfu v6: Model FLOPs utilisation (MFU) by stage: FLOP that the model needs / FLOP that the GPUs could do in the time, at the dense peak of
--     the precision.
-- grain: one stage
-- key: stage
-- notes: mfu pass throttle timelines stage launch range
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only work on this GPU, and only passes with work on it
--   model BIGINT = NULL: model_id; default: a model given as a configuration, else the one described by the workload
--   convention VARCHAR = 'full': prompt attention counted as full (all query-key pairs, as PyTorch and PaLM do) or causal (only pairs the
--     mask allows)
--   mla VARCHAR = 'expanded': latent attention in decode: expanded (keys and values of the whole context are recomputed each step, as in
--     transformers) or absorbed (as in serving engines)
--   head VARCHAR = 'last': prompt positions whose logits are computed: last or all
--   compute VARCHAR = NULL: precision of matrix products: fp64, fp32, tf32, bf16, fp16, fp8, int8 or fp4; default: that of the
--     configuration, else of the kernel names
--   dtype VARCHAR = NULL: precision of weights and KV cache; default: as the configuration says, else as kernel names show
--   peak DOUBLE = NULL: peak FLOP/s of one GPU, e.g. 989.4T, instead of the table's (device_peak)
--   bandwidth DOUBLE = NULL: peak memory bandwidth of one GPU in bytes/s, e.g. 4.8T, instead of the table's
--   time_basis VARCHAR = 'gpu_span': time of a pass: gpu_span (first start to last end of its device work), gpu_busy (union of device
--     intervals), gpu_sum (sum of durations) or cpu (range on its thread)
--   ranks VARCHAR = NULL: for passes in several processes at once: shared (one batch together, as in tensor parallelism) or own (each its
--     own batch); default: what the facts of the workload or the capture show, as in stage_share, else utilisation is unknown
--   {source}
-- columns:
--   stage: model (prefill and decode together), prefill, decode, other stages of the run, and vision
--   passes: measured passes, over repeats, those of several processes at once together; warm-up excluded
--   flop: FLOP of the median pass by time_ns, from the model's configuration and the tokens of the pass; NULL when unknown
--   time_basis: definition of time_ns, as the option
--   time_ns: time of the median pass; NULL when a pass has none
--   peak_flop_per_s: dense peak of all GPUs that worked in a pass, or of one GPU where the time is a sum over GPUs (gpu_busy, gpu_sum);
--     NULL when unknown
--   mfu_ratio: flop / (peak_flop_per_s x time_ns). Over 1 means that an input is wrong: tokens, model, peak or precision
--   mbu_ratio: memory bandwidth utilisation: bytes that must be read in the median pass / (peak bandwidth x its time); NULL when unknown
--   alone_time_ns: median time of a pass in recordings without a profiler, from the opening of its range to the end of its work on the GPU;
--     NULL when not measured
--   alone_mfu_ratio: MFU by that time: without the profiling overhead. The figure to quote where there is one
--   alone_mbu_ratio: MBU by that time
--   precision: precision of the peak
--   convention: how prompt attention is counted, as the option
--   mla: how latent attention in decode is counted, as the option; NULL for a model without
--   mfu_mean_ratio: mean of the passes' MFU
--   mfu_std_ratio: sample standard deviation (n-1) of the passes' MFU; NULL for one pass
--   mbu_mean_ratio: mean of the passes' MBU
--   mbu_std_ratio: sample standard deviation (n-1) of the passes' MBU; NULL for one pass
--   part_of: prefill for vision, which is part of it and included in its figures; NULL for others
--   precision_origin: origin of the precision: option, configuration, kernels (their names), or neither where these two disagree
--   peak_origin: origin of the peak of one GPU
--   device_count: GPUs that worked in a pass
--   is_least: whether utilisation is a lower bound: contexts are unknown, or the time includes a part of the stage (vision) or of the model
--     that is not counted
--   fault: mfu-over-1 or mbu-over-1 when a pass exceeds what the GPUs can do: tokens, model, precision, peak or bandwidth are wrong; NULL
--     otherwise

SELECT
    u.stage,
    u.passes,
    u.flop,
    time_basis AS time_basis,
    u.time_ns,
    u.peak_flop_per_s * u.peak_count AS peak_flop_per_s,
    u.flop / (u.peak_flop_per_s * u.device_ns / 1e9) AS mfu_ratio,
    u.moved_bytes / (u.peak_bytes_per_s * u.device_ns / 1e9) AS mbu_ratio,
    u.alone_ns AS alone_time_ns,
    u.alone_flop / (u.peak_flop_per_s * u.alone_device_ns / 1e9) AS alone_mfu_ratio,
    u.alone_moved_bytes / (u.peak_bytes_per_s * u.alone_device_ns / 1e9) AS alone_mbu_ratio,
    u.precision,
    convention AS convention,
    CASE WHEN u.has_latent THEN mla END AS mla,
    u.mfu_mean AS mfu_mean_ratio,
    u.mfu_std AS mfu_std_ratio,
    u.mbu_mean AS mbu_mean_ratio,
    u.mbu_std AS mbu_std_ratio,
    u.part_of,
    u.precision_origin,
    u.peak_origin,
    u.device_count,
    u.is_least,
    CASE
        WHEN u.mfu_max > 1 OR alone_mfu_ratio > 1 THEN 'mfu-over-1'
        WHEN u.mbu_max > 1 OR alone_mbu_ratio > 1 THEN 'mbu-over-1'
    END AS fault
FROM _stage_use(
    run, device := device, source := source, model := model, convention := convention, mla := mla, head := head,
    compute := compute, dtype := dtype, peak := peak, bandwidth := bandwidth, time_basis := time_basis, ranks := ranks
) u
ORDER BY coalesce(array_position(['model', 'prefill', 'decode', 'vision'], u.stage), 3.5), u.stage
