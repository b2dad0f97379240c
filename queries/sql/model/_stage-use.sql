-- _stage-use: FLOP, bytes and time of the median measured pass of each stage, by the selected conventions: the basis of utilisation.
-- grain: one stage
-- key: stage, part_of
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only work on this GPU, and only passes with work on it
--   {source}
--   model BIGINT = NULL: model_id; default: as in _model-id
--   convention VARCHAR = 'full': full or causal
--   mla VARCHAR = 'expanded': absorbed or expanded
--   head VARCHAR = 'last': last or all
--   compute VARCHAR = NULL: precision of matrix products
--   dtype VARCHAR = NULL: precision of weights and KV cache; default: as the configuration says, else as kernel names show
--   peak DOUBLE = NULL: peak FLOP/s of one GPU
--   bandwidth DOUBLE = NULL: memory bandwidth of one GPU in bytes/s
--   time_basis VARCHAR = 'gpu_span': time of a pass: gpu_span, gpu_busy, gpu_sum or cpu
--   ranks VARCHAR = NULL: for passes in several processes at once: shared (one batch together) or own (each its own batch); default: shared
--     where the capture shows it
-- columns:
--   stage: the stage
--   part_of: prefill for vision; NULL for stages
--   passes: measured passes, those of several processes at once together: of these the one that takes longest
--   flop: FLOP of the median pass by time_ns; NULL when unknown of a pass, as the next three
--   weight_bytes: weight bytes that it must read
--   kv_bytes: key and value bytes that it must read
--   moved_bytes: weight and key-value bytes together
--   time_ns: median time of the passes; NULL when a pass has none
--   device_ns: time_ns x peak_count, of the median pass
--   alone_ns: median time without a profiler of the passes; NULL when a pass has none
--   alone_flop: FLOP of the median pass by alone_ns
--   alone_moved_bytes: weight and key-value bytes of it
--   alone_device_ns: alone_ns x GPUs that worked, of that pass
--   device_count: GPUs that did the work; NULL when unknown: with several processes, or a pass with only some of its GPUs selected
--   peak_count: GPUs whose peak the time is compared with; busy times and sums are already summed over GPUs
--   is_least: whether flop and bytes are lower bounds, and so utilisation: contexts are unknown, or a part of the stage or of the model is
--     not counted
--   mfu_mean: mean of the passes' MFU
--   mfu_std: sample standard deviation (n-1) of the passes' MFU
--   mbu_mean: mean of the passes' MBU
--   mbu_std: sample standard deviation (n-1) of the passes' MBU
--   mfu_max: highest MFU of a pass; over 1 means that an input is wrong
--   mbu_max: highest MBU of a pass
--   precision: precision of matrix products
--   precision_origin: origin of the precision, as in _run-precision
--   peak_flop_per_s: dense peak of one GPU; NULL when unknown
--   peak_bytes_per_s: memory bandwidth of one GPU; NULL when unknown
--   peak_origin: origin of the peak of one GPU
--   has_latent: whether the model has latent attention (MLA)

WITH u AS (
    SELECT
        u.stage,
        u.part_of,
        u.range_id,
        u.is_least,
        u.flop,
        u.weight_bytes,
        u.kv_bytes,
        u.moved_bytes,
        u.time_ns,
        u.device_ns,
        u.alone_ns,
        u.alone_device_ns,
        u.device_count,
        u.peak_count,
        u.mfu_ratio,
        u.mbu_ratio,
        u.precision,
        u.precision_origin,
        u.peak_flop_per_s,
        u.peak_bytes_per_s,
        u.peak_origin,
        u.model_id,
        u.has_latent
    FROM _pass_use(
        run, device := device, source := source, model := model, convention := convention, mla := mla, head := head,
        compute := compute, dtype := dtype, peak := peak, bandwidth := bandwidth, time_basis := time_basis,
        ranks := ranks
    ) u
    WHERE u.range_id IN (
            SELECT w.range_id
            FROM _whole_pass(runs := [run::UUID], device := device, source := source) w
        )
), s AS (
    SELECT
        u.stage,
        u.part_of,
        count(*) AS passes,
        CASE WHEN count(u.flop) = count(*) THEN _median_pass(u.flop, coalesce(u.time_ns, 0), u.range_id) END AS flop,
        CASE
            WHEN count(u.weight_bytes) = count(*)
                THEN _median_pass(u.weight_bytes, coalesce(u.time_ns, 0), u.range_id)
        END AS weight_bytes,
        CASE
            WHEN count(u.kv_bytes) = count(*) THEN _median_pass(u.kv_bytes, coalesce(u.time_ns, 0), u.range_id)
        END AS kv_bytes,
        CASE
            WHEN count(u.moved_bytes) = count(*)
                THEN _median_pass(u.moved_bytes, coalesce(u.time_ns, 0), u.range_id)
        END AS moved_bytes,
        CASE WHEN count(u.time_ns) = count(*) THEN median(u.time_ns) END AS time_ns,
        CASE WHEN count(u.device_ns) = count(*) THEN _median_pass(u.device_ns, u.time_ns, u.range_id) END AS device_ns,
        CASE WHEN count(u.alone_ns) = count(*) THEN median(u.alone_ns) END AS alone_ns,
        CASE WHEN count(u.flop) = count(*) THEN _median_pass(u.flop, u.alone_ns, u.range_id) END AS alone_flop,
        CASE
            WHEN count(u.moved_bytes) = count(*) THEN _median_pass(u.moved_bytes, u.alone_ns, u.range_id)
        END AS alone_moved_bytes,
        CASE
            WHEN count(u.alone_device_ns) = count(*) THEN _median_pass(u.alone_device_ns, u.alone_ns, u.range_id)
        END AS alone_device_ns,
        max(u.device_count) AS device_count,
        max(u.peak_count) AS peak_count,
        bool_or(u.is_least) AS is_least,
        max(u.mfu_ratio) AS mfu_max,
        max(u.mbu_ratio) AS mbu_max,
        CASE WHEN count(u.mfu_ratio) = count(*) THEN list(u.mfu_ratio ORDER BY u.mfu_ratio) END AS mfu,
        CASE WHEN count(u.mbu_ratio) = count(*) THEN list(u.mbu_ratio ORDER BY u.mbu_ratio) END AS mbu,
        any_value(u.precision) AS precision,
        any_value(u.precision_origin) AS precision_origin,
        any_value(u.peak_flop_per_s) AS peak_flop_per_s,
        any_value(u.peak_bytes_per_s) AS peak_bytes_per_s,
        any_value(u.peak_origin) AS peak_origin,
        any_value(u.model_id) AS model_id,
        any_value(u.has_latent) AS has_latent
    FROM u
    GROUP BY u.stage, u.part_of
)
SELECT
    s.stage,
    s.part_of,
    s.passes,
    s.flop,
    s.weight_bytes,
    s.kv_bytes,
    s.moved_bytes,
    s.time_ns,
    s.device_ns,
    s.alone_ns,
    s.alone_flop,
    s.alone_moved_bytes,
    s.alone_device_ns,
    s.device_count,
    s.peak_count,
    s.is_least
    OR EXISTS (
        SELECT 1
        FROM s y
        WHERE y.part_of IS NOT NULL AND y.flop IS NULL AND s.stage IN (y.part_of, 'model')
    )
    OR s.stage IN ('model', 'prefill')
    AND EXISTS (
        SELECT 1
        FROM model_note n
        WHERE n.run_id = run AND n.model_id = s.model_id AND n.kind = 'left_out'
    ) AS is_least,
    list_avg(s.mfu) AS mfu_mean,
    list_stddev_samp(s.mfu) AS mfu_std,
    list_avg(s.mbu) AS mbu_mean,
    list_stddev_samp(s.mbu) AS mbu_std,
    s.mfu_max,
    s.mbu_max,
    s.precision,
    s.precision_origin,
    s.peak_flop_per_s,
    s.peak_bytes_per_s,
    s.peak_origin,
    s.has_latent
FROM s
