-- serving-parts v1: Steady parts of a serving run: where decode batch or step time changes level, a new part begins. Batch, tokens, time,
--     MFU and MBU of each, labelled ramp-up, steady or drain. Warm-up is excluded.
-- grain: one part of the iterations of one process and GPU
-- key: source_id, pid, device, part
-- notes: mfu stage timelines workload launch range
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only this GPU
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
--   ranks VARCHAR = NULL: for passes in several processes at once: shared (one batch together, as in tensor parallelism) or own (each its
--     own batch); default: what the facts of the workload or the capture show, as in stage_share, else utilisation is unknown
--   {source}
-- columns:
--   part: part number within the source, process and GPU, in time order, from 1
--   label: ramp-up, steady or drain, by mean decode batch against that of the part with the most iterations (the earliest of these):
--     ramp-up for the first parts as long as each is over 10 % below it (x 1.1 < it), drain for the last parts likewise, steady for all
--     others; NULL when reason says why
--   iteration_count: iterations, warm-up excluded
--   decode_iteration_count: of these, those that only decode
--   mixed_iteration_count: those with prompts and decode
--   prefill_iteration_count: those with prompts only
--   decode_mean_count: mean decode batch: generating sequences of an iteration that decodes; NULL when unknown for any, or none decodes
--   token_mean_count: mean tokens of an iteration, prompts and decoded; NULL when unknown for any
--   time_mean_ns: mean time, from the first device work of an iteration to that of the next in its pass, of a prefill to that of the decode
--     that follows; NULL without one
--   decode_tokens_per_s: tokens decoded / time, of iterations with a time: the rate of one process and GPU; NULL when unknown for any of
--     them
--   busy_ratio: GPU busy time as a share of the time, of iterations with a time
--   between_ratio: time from the last device work of an iteration to the first of the next, as a share of the time, likewise; the rest is
--     idle within iterations
--   mfu_ratio: model FLOP / (peak x GPU span), as in mfu; NULL when unknown for any iteration
--   mbu_ratio: bytes that must be read / (peak bandwidth x GPU span), likewise
--   first_nth: number of its first iteration, as in iterations
--   last_nth: number of its last iteration
--   start_ns: start of the device work of its first iteration, from the start of the source
--   time_ns: time of its iterations, of those that have one
--   timed_count: iterations with a time: the last one of a pass has none
--   reason: why there is no label: few-iterations (the process has fewer than 16: one part) or no-batch (decode_mean_count of the part, or
--     of that with the most iterations, is unknown; a process without any known batch has one part); NULL when there is a label
--   is_least: whether MFU and MBU are lower bounds, as in mfu; NULL when they are unknown
--   device: GPU; NULL without device work
--   source_id: the source
--   pid: process

WITH i AS (
    SELECT
        dense_rank() OVER (ORDER BY i.source_id, i.pid, i.device_id) AS process,
        i.nth,
        i.stage,
        i.source_id,
        i.pid,
        i.device_id,
        i.range_id,
        i.start_ns,
        i.time_ns,
        CASE WHEN i.time_ns IS NOT NULL THEN least(i.busy_ns, i.time_ns) END AS busy_ns,
        CASE WHEN i.time_ns IS NOT NULL THEN i.time_ns - least(i.gpu_span_ns, i.time_ns) END AS between_ns,
        i.token_count,
        i.decode_token_count,
        CASE WHEN i.stage <> 'prefill' THEN nullif(i.decode_count, 0) END AS batch
    FROM iteration i
    WHERE i.run_id = run
        AND NOT i.is_warmup
        AND i.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND (device IS NULL OR i.device_id = device)
), own AS (
    SELECT
        p.process,
        any_value(p.source_id) AS source_id,
        any_value(p.pid) AS pid,
        any_value(p.device_id) AS device_id
    FROM i p
    GROUP BY p.process
), cut AS (
    SELECT o.process, c.part, c.first_nth
    FROM own o
    JOIN iteration_part c
        ON c.run_id = run
        AND c.source_id = o.source_id
        AND c.pid IS NOT DISTINCT FROM o.pid
        AND c.device_id IS NOT DISTINCT FROM o.device_id
), u AS (
    SELECT
        u.stage,
        u.range_id,
        u.flop,
        u.moved_bytes,
        u.peak_flop_per_s * u.device_ns / 1e9 AS possible_flop,
        u.peak_bytes_per_s * u.device_ns / 1e9 AS possible_bytes,
        u.is_least
    FROM _pass_use(
        run, device := device, source := source, model := model, convention := convention, mla := mla, head := head,
        compute := compute, dtype := dtype, peak := peak, bandwidth := bandwidth, ranks := ranks
    ) u
    WHERE u.part_of IS NULL
), q AS (
    SELECT
        i.process,
        c.part,
        i.source_id,
        i.pid,
        i.device_id,
        count(*) AS n,
        count(*) FILTER (i.stage = 'decode') AS decoding,
        count(*) FILTER (i.stage = 'mixed') AS mixed,
        count(*) FILTER (i.stage = 'prefill') AS prefills,
        CASE WHEN count(i.batch) = count(*) FILTER (i.stage <> 'prefill') THEN _mean(i.batch) END AS batch,
        CASE WHEN count(i.token_count) = count(*) THEN _mean(i.token_count) END AS tokens,
        _mean(i.time_ns) AS mean_ns,
        CASE
            WHEN count(i.decode_token_count) FILTER (i.time_ns IS NOT NULL) = count(i.time_ns)
                THEN (sum(i.decode_token_count) FILTER (i.time_ns IS NOT NULL))::BIGINT
        END AS timed_decoded,
        sum(i.busy_ns)::BIGINT AS busy_ns,
        sum(i.between_ns)::BIGINT AS between_ns,
        sum(i.time_ns)::BIGINT AS time_ns,
        count(i.time_ns) AS timed,
        min(i.nth) AS first_nth,
        max(i.nth) AS last_nth,
        min(i.start_ns) AS start_ns,
        CASE
            WHEN count(u.flop) = count(*) AND count(u.possible_flop) = count(*)
                THEN sum(u.flop)::DOUBLE / list_sum(list(u.possible_flop ORDER BY u.possible_flop))
        END AS mfu,
        CASE
            WHEN count(u.moved_bytes) = count(*) AND count(u.possible_bytes) = count(*)
                THEN list_sum(list(u.moved_bytes ORDER BY u.moved_bytes))
                    / list_sum(list(u.possible_bytes ORDER BY u.possible_bytes))
        END AS mbu,
        bool_or(u.is_least) AS is_least
    FROM i
    ASOF JOIN cut c ON c.process = i.process AND i.nth >= c.first_nth
    LEFT JOIN u ON u.range_id = i.range_id AND u.stage = i.stage
    GROUP BY i.process, c.part, i.source_id, i.pid, i.device_id
), high AS ( -- parts that are not below the longest
    SELECT
        q.process,
        q.part,
        q.batch * 1.1 >= first_value(q.batch) OVER longest AS is_high,
        sum(q.n) OVER (PARTITION BY q.process) AS n
    FROM q
    WINDOW longest AS (PARTITION BY q.process ORDER BY q.n DESC, q.part)
), edge AS (
    SELECT
        h.process,
        min(h.part) FILTER (h.is_high) AS first,
        max(h.part) FILTER (h.is_high) AS last,
        any_value(h.n) AS n
    FROM high h
    GROUP BY h.process
), reasoned AS (
    SELECT
        h.process,
        h.part,
        e.first,
        e.last,
        CASE WHEN e.n < 16 THEN 'few-iterations' WHEN h.is_high IS NULL THEN 'no-batch' END AS reason
    FROM high h JOIN edge e ON e.process = h.process
)
SELECT
    q.part,
    CASE
        WHEN r.reason IS NOT NULL THEN NULL
        WHEN q.part < r.first THEN 'ramp-up'
        WHEN q.part > r.last THEN 'drain'
        ELSE 'steady'
    END AS label,
    q.n AS iteration_count,
    q.decoding AS decode_iteration_count,
    q.mixed AS mixed_iteration_count,
    q.prefills AS prefill_iteration_count,
    q.batch AS decode_mean_count,
    q.tokens AS token_mean_count,
    q.mean_ns AS time_mean_ns,
    1e9 * q.timed_decoded / nullif(q.time_ns, 0) AS decode_tokens_per_s,
    q.busy_ns / nullif(q.time_ns, 0) AS busy_ratio,
    q.between_ns / nullif(q.time_ns, 0) AS between_ratio,
    q.mfu AS mfu_ratio,
    q.mbu AS mbu_ratio,
    q.first_nth,
    q.last_nth,
    q.start_ns,
    q.time_ns,
    q.timed AS timed_count,
    r.reason,
    q.is_least,
    q.device_id AS device,
    q.source_id,
    q.pid
FROM q JOIN reasoned r ON r.process = q.process AND r.part = q.part
ORDER BY q.source_id, q.pid, q.device_id, q.part
