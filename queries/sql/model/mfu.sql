-- mfu v3: Model FLOPs utilisation by stage: operations that the model needs, divided by what the GPUs could have done in the time, at the dense peak of the precision.
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
--   ranks VARCHAR = NULL: where passes ran in several processes at once: shared (they worked on one batch together, as in tensor parallelism) or own (each on its own); by default shared where the capture shows it (one process a GPU, all-reduces inside forward passes, kernels of equal shapes), else utilisation is not known
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
--   is_least: whether utilisation is at least what is shown: contexts are unknown, or a part of the stage (vision) or of the model is in the time and not counted
--   fault: mfu-over-1 or mbu-over-1 where a pass exceeds what the GPUs can do: tokens, model, precision, peak or bandwidth are wrong; NULL when nothing is

SELECT u.stage, u.passes, u.flop::DOUBLE / u.passes AS flop, time_basis AS time_basis, u.time_ns::DOUBLE / u.passes AS time_ns, u.peak_flop_per_s * u.peak_count AS peak_flop_per_s,
    u.flop::DOUBLE / (u.peak_flop_per_s * u.device_ns / 1e9) AS mfu_ratio, u.moved_bytes / (u.peak_bytes_per_s * u.device_ns / 1e9) AS mbu_ratio,
    u.precision, convention AS convention, CASE WHEN u.has_latent THEN mla END AS mla, u.mfu_mean AS mfu_mean_ratio, u.mfu_std AS mfu_std_ratio, u.mbu_mean AS mbu_mean_ratio, u.mbu_std AS mbu_std_ratio,
    u.part_of, u.precision_origin, u.peak_origin, u.device_count, u.is_least,
    CASE WHEN u.mfu_max > 1 THEN 'mfu-over-1' WHEN u.mbu_max > 1 THEN 'mbu-over-1' END AS fault
FROM _stage_use(run, device := device, source := source, model := model, convention := convention, mla := mla, head := head, compute := compute, dtype := dtype, peak := peak, bandwidth := bandwidth, time_basis := time_basis, ranks := ranks) u
ORDER BY coalesce(array_position(['model', 'prefill', 'decode', 'vision'], u.stage), 3.5), u.stage
