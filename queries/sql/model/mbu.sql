-- mbu v5: Memory bandwidth utilisation (MBU) by stage: bytes that must be read / bytes that the GPUs could read in the time. The measure
--     for decode.
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
--   stage: model (prefill and decode together), prefill, decode, and other stages of the run
--   passes: measured passes, over repeats, those of several processes at once together; warm-up excluded
--   weight_bytes: weight bytes read in the median pass by time_ns: each weight once per forward pass, and as many experts as evenly
--     choosing tokens touch; NULL when unknown
--   kv_bytes: key and value (or latent) bytes read in it: those of the context, once per forward pass; NULL when unknown
--   time_basis: definition of time_ns, as the option
--   time_ns: time of the median pass; NULL when a pass has none
--   peak_bytes_per_s: peak memory bandwidth of all GPUs that worked in a pass, or of one GPU where the time is a sum over GPUs; NULL when
--     unknown
--   mbu_ratio: (weight_bytes + kv_bytes) / (peak_bytes_per_s x time_ns). Over 1 means that an input is wrong
--   alone_time_ns: median time of a pass in recordings without a profiler, from the opening of its range to the end of its work on the GPU;
--     NULL when not measured
--   alone_mbu_ratio: MBU by that time: without the profiling overhead. The figure to quote where there is one
--   mbu_mean_ratio: mean of the passes' MBU
--   mbu_std_ratio: sample standard deviation (n-1) of the passes' MBU; NULL for one pass
--   device_count: GPUs that worked in a pass
--   fault: mbu-over-1 when a pass exceeds the memory bandwidth: tokens, model, precision or bandwidth are wrong; NULL otherwise

SELECT
    u.stage,
    u.passes,
    u.weight_bytes,
    u.kv_bytes,
    time_basis AS time_basis,
    u.time_ns,
    u.peak_bytes_per_s * u.peak_count AS peak_bytes_per_s,
    u.moved_bytes / (u.peak_bytes_per_s * u.device_ns / 1e9) AS mbu_ratio,
    u.alone_ns AS alone_time_ns,
    u.alone_moved_bytes / (u.peak_bytes_per_s * u.alone_device_ns / 1e9) AS alone_mbu_ratio,
    u.mbu_mean AS mbu_mean_ratio,
    u.mbu_std AS mbu_std_ratio,
    u.device_count,
    CASE WHEN u.mbu_max > 1 OR alone_mbu_ratio > 1 THEN 'mbu-over-1' END AS fault
FROM _stage_use(
    run, device := device, source := source, model := model, convention := convention, mla := mla, head := head,
    compute := compute, dtype := dtype, peak := peak, bandwidth := bandwidth, time_basis := time_basis, ranks := ranks
) u
WHERE u.part_of IS NULL
ORDER BY coalesce(array_position(['model', 'prefill', 'decode'], u.stage), 3.5), u.stage
