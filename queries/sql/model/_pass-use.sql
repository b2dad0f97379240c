-- _pass-use: FLOP, bytes and time of each measured pass by the selected conventions, with the peaks that they are compared with.
-- grain: one pass of a stage; another row for the images of a prefill, and one for a prefill with its decode
-- key: stage, part_of, range_id
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
--   stage: the stage; vision for images, model for a whole pass
--   part_of: prefill for vision; NULL for stages
--   range_id: range of the stage; of images and whole passes, that of the prefill
--   is_least: whether FLOP and bytes are lower bounds: contexts are unknown
--   flop: FLOP of the pass; NULL when unknown
--   weight_bytes: weight bytes that it must read; NULL when unknown
--   kv_bytes: key and value bytes that it must read; NULL when unknown
--   moved_bytes: weight_bytes + kv_bytes
--   time_ns: time of the pass; NULL when it has none
--   device_count: GPUs that did the work, of all processes that share it; one that they share counts once; NULL when unknown
--   peak_count: GPUs whose peak the time is compared with; NULL for busy times and sums where processes share a GPU: each has its own
--   device_ns: time_ns x peak_count
--   alone_ns: time without a profiler; NULL when not measured
--   alone_device_ns: alone_ns x GPUs that worked
--   mfu_ratio: flop / (peak x device_ns); NULL when unknown
--   mbu_ratio: moved_bytes / (bandwidth x device_ns); NULL when unknown
--   precision: precision of matrix products
--   precision_origin: origin of the precision, as in _run-precision
--   peak_flop_per_s: dense peak of one GPU; NULL when unknown
--   peak_bytes_per_s: memory bandwidth of one GPU; NULL when unknown
--   peak_origin: origin of the peak of one GPU
--   model_id: the model; NULL when none is known
--   has_latent: whether the model has latent attention (MLA); NULL when none is known

WITH r AS (
    SELECT r.precision, r.origin, r.seen, r.is_disputed
    FROM _run_precision(run, model := model, compute := compute, dtype := dtype, source := source) r
), k AS (
    SELECT k.peak_flop_per_s, k.peak_bytes_per_s, k.peak_origin
    FROM _peak(
        run,
        device := device,
        compute := (SELECT r.precision FROM r),
        peak := peak,
        bandwidth := bandwidth,
        source := source
    ) k
), m AS ( -- bytes of a parameter in the model's precision
    SELECT
        m.model_id,
        m.has_latent,
        _dtype_bits(m.name) / 8.0::DOUBLE AS bytes,
        dtype IS NOT NULL OR NOT m.is_disputed AS is_sure,
        m.is_unknown AND dtype IS NULL AS is_unknown
    FROM (
        SELECT
            x.model_id,
            x.has_latent,
            x.is_unknown,
            r.is_disputed,
            coalesce(dtype, x.dtype, r.seen) AS name
        FROM model_size x CROSS JOIN r
        WHERE x.run_id = run AND x.model_id = _model_id(run, model)
    ) m
), v AS (
    SELECT
        t.stage,
        t.part_of,
        t.range_id,
        t.device_count AS own_device_count,
        t.shared_device_count,
        nullif(t.alone_ns, 0) AS alone_ns,
        coalesce(c.is_least, false) AS is_least,
        CASE
            WHEN ranks = 'own'
                OR t.process_count = 1 AND (NOT t.is_shared OR ranks IS NOT NULL)
                OR ranks IS NULL AND NOT t.is_shared
                THEN 1
            WHEN ranks = 'shared' OR ranks IS NULL AND t.is_shared THEN t.process_count
            WHEN ranks IS NOT NULL THEN error('ARGUMENT: --ranks is shared or own')::BIGINT
        END AS parallel,
        CASE time_basis
            WHEN 'gpu_span' THEN t.gpu_span_ns
            WHEN 'gpu_busy' THEN t.gpu_busy_ns
            WHEN 'gpu_sum' THEN t.gpu_sum_ns
            WHEN 'cpu' THEN t.cpu_ns
            ELSE error('ARGUMENT: --time-basis is gpu_span, gpu_busy, gpu_sum or cpu')::BIGINT
        END AS time_ns,
        c.base_flop
            + CASE head
                WHEN 'last' THEN c.last_head_flop
                WHEN 'all' THEN c.all_head_flop
                ELSE error('ARGUMENT: --head is last or all')::BIGINT
            END
            + CASE convention
                WHEN 'full' THEN c.full_flop
                WHEN 'causal' THEN c.causal_flop
                ELSE error('ARGUMENT: --convention is full or causal')::BIGINT
            END
            + CASE mla
                WHEN 'expanded' THEN c.expanded_flop
                WHEN 'absorbed' THEN c.absorbed_flop
                ELSE error('ARGUMENT: --mla is absorbed or expanded')::BIGINT
            END AS flop,
        CASE
            WHEN m.is_sure AND NOT m.is_unknown
                THEN m.bytes * c.plain_count
                    + CASE WHEN dtype IS NULL THEN c.packed_bytes ELSE m.bytes * c.packed_count END
        END AS weight_bytes,
        CASE WHEN m.is_sure THEN m.bytes * c.cached_count END AS kv_bytes
    FROM pass_time t
    LEFT JOIN m ON true
    LEFT JOIN pass_cost c
        ON c.run_id = run AND c.range_id = t.range_id AND c.stage = t.stage AND c.model_id = m.model_id
    WHERE t.run_id = run
        AND t.device_id IS NOT DISTINCT FROM device
        AND t.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
), w AS (
    SELECT
        v.stage,
        v.part_of,
        v.range_id,
        v.is_least,
        v.flop,
        v.weight_bytes,
        v.kv_bytes,
        v.weight_bytes + v.kv_bytes AS moved_bytes,
        nullif(v.time_ns, 0) AS time_ns,
        CASE
            WHEN v.parallel = 1 THEN nullif(v.own_device_count, 0)
            WHEN v.parallel > 1 THEN nullif(v.shared_device_count, 0)
        END AS device_count,
        v.alone_ns,
        v.alone_ns * device_count AS alone_device_ns,
        CASE
            WHEN time_basis NOT IN ('gpu_busy', 'gpu_sum') THEN device_count
            WHEN device_count = v.parallel * v.own_device_count THEN v.parallel
        END AS peak_count
    FROM v
)
SELECT
    w.stage,
    w.part_of,
    w.range_id,
    w.is_least,
    w.flop,
    w.weight_bytes,
    w.kv_bytes,
    w.moved_bytes,
    w.time_ns,
    w.device_count,
    w.peak_count,
    w.time_ns * w.peak_count AS device_ns,
    w.alone_ns,
    w.alone_device_ns,
    w.flop / (k.peak_flop_per_s * w.peak_count * w.time_ns / 1e9) AS mfu_ratio,
    w.moved_bytes / (k.peak_bytes_per_s * w.peak_count * w.time_ns / 1e9) AS mbu_ratio,
    r.precision,
    r.origin AS precision_origin,
    k.peak_flop_per_s,
    k.peak_bytes_per_s,
    k.peak_origin,
    m.model_id,
    m.has_latent
FROM w CROSS JOIN k CROSS JOIN r LEFT JOIN m ON true
