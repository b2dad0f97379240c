-- iteration-summary v1: Iterations of an engine by kind and batch: time, tokens a second, MFU and MBU, GPU time between iterations, padding
--     of graphs. Warm-up is excluded.
-- grain: one stage, number of sequences and way to launch, of all processes and GPUs
-- key: stage, sequence_count, mode
-- notes: mfu stage timelines workload launch range
-- params:
--   run VARCHAR: the run
--   by VARCHAR = 'batch': group by batch (stage, sequences and mode) or stage (stage and mode)
--   stage VARCHAR = NULL: only this stage: prefill, decode, mixed, ...
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
--   stage: stage, by stage_rule: prefill, decode, mixed (both), ...
--   sequence_count: sequences of an iteration, prompts and generating ones; NULL when unknown, and by stage
--   mode: how they were launched: eager (no CUDA graph), graph (one replay) or piecewise (several); NULL when launches were not captured
--   iteration_count: iterations of each GPU, warm-up excluded
--   time_mean_ns: mean time, from the first device work of an iteration to that of the next in its pass, of a prefill to that of the decode
--     that follows; NULL without one
--   time_p50_ns: median time
--   time_p99_ns: 99th percentile, interpolated
--   busy_ratio: GPU busy time as a share of the time, of iterations with a time
--   before_mean_ns: mean GPU time between the work of earlier iterations and its own, in which no iteration has work; NULL without one
--   tokens_per_s: tokens computed, prompts and decoded / time, of iterations with both: the rate of one process and GPU, where several have
--     iterations; NULL when unknown for any with a time
--   decode_tokens_per_s: tokens decoded / time, likewise
--   mfu_ratio: model FLOP / (peak x GPU span), by the sums of all iterations, where mfu is of the median pass; NULL when unknown for any
--     iteration, as for steps of a pass that mfu has as a whole
--   mbu_ratio: bytes that must be read / (peak bandwidth x GPU span), likewise
--   padding_ratio: decode with one replay: at least this share of the sequences that its graphs compute is padding; NULL when the capture
--     does not name the graphs
--   share_ratio: time as a share of that of all iterations of the selection
--   token_mean_count: mean tokens of an iteration, prompts and decoded; NULL when unknown for any
--   prompt_token_mean_count: mean tokens of prompts, likewise
--   time_std_ns: sample standard deviation of the time (n-1); NULL for fewer than two
--   time_min_ns: shortest
--   time_max_ns: longest
--   timed_count: iterations with a time: the last one of a pass has none
--   warmup_count: excluded warm-up iterations
--   is_least: whether MFU and MBU are lower bounds, as in mfu; NULL when they are unknown

WITH i AS (
    SELECT
        i.stage,
        CASE "by"
            WHEN 'batch' THEN i.prompt_count + i.decode_count
            WHEN 'stage' THEN NULL::BIGINT
            ELSE error('ARGUMENT: --by is batch or stage')::BIGINT
        END AS sequence_count,
        i.mode,
        i.source_id,
        i.range_id,
        i.device_id,
        i.is_warmup,
        i.time_ns,
        CASE WHEN i.time_ns IS NOT NULL THEN least(i.busy_ns, i.time_ns) END AS busy_ns,
        i.before_ns,
        i.token_count,
        i.prompt_token_count,
        i.decode_token_count,
        i.graph_token_count
    FROM iteration i
    WHERE i.run_id = run
        AND i.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND (device IS NULL OR i.device_id = device)
        AND (stage IS NULL OR i.stage = stage)
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
        i.stage,
        i.sequence_count,
        i.mode,
        count(*) AS n,
        count(i.time_ns) AS timed,
        sum(i.time_ns)::BIGINT AS time_ns,
        _mean(i.time_ns) AS mean_ns,
        quantile_cont(i.time_ns, 0.5) AS p50_ns,
        quantile_cont(i.time_ns, 0.99) AS p99_ns,
        _std(i.time_ns) AS std_ns,
        min(i.time_ns) AS min_ns,
        max(i.time_ns) AS max_ns,
        sum(i.busy_ns)::BIGINT AS busy_ns,
        _mean(i.before_ns) AS before_ns,
        CASE
            WHEN count(i.token_count) FILTER (i.time_ns IS NOT NULL) = count(i.time_ns)
                THEN (sum(i.token_count) FILTER (i.time_ns IS NOT NULL))::BIGINT
        END AS timed_tokens,
        CASE
            WHEN count(i.decode_token_count) FILTER (i.time_ns IS NOT NULL) = count(i.time_ns)
                THEN (sum(i.decode_token_count) FILTER (i.time_ns IS NOT NULL))::BIGINT
        END AS timed_decoded,
        CASE WHEN count(i.token_count) = count(*) THEN _mean(i.token_count) END AS tokens,
        CASE WHEN count(i.prompt_token_count) = count(*) THEN _mean(i.prompt_token_count) END AS prompt_tokens,
        CASE
            WHEN count(i.graph_token_count) = count(*) THEN 1 - sum(i.token_count) / sum(i.graph_token_count)
        END AS padding,
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
    FROM i LEFT JOIN u ON u.range_id = i.range_id AND u.stage = i.stage
    WHERE NOT i.is_warmup
    GROUP BY i.stage, i.sequence_count, i.mode
), warm AS (
    SELECT
        i.stage,
        i.sequence_count,
        i.mode,
        count(*) AS n
    FROM i
    WHERE i.is_warmup
    GROUP BY i.stage, i.sequence_count, i.mode
)
SELECT
    q.stage,
    q.sequence_count,
    q.mode,
    q.n AS iteration_count,
    q.mean_ns AS time_mean_ns,
    q.p50_ns AS time_p50_ns,
    q.p99_ns AS time_p99_ns,
    q.busy_ns / nullif(q.time_ns, 0) AS busy_ratio,
    q.before_ns AS before_mean_ns,
    1e9 * q.timed_tokens / nullif(q.time_ns, 0) AS tokens_per_s,
    1e9 * q.timed_decoded / nullif(q.time_ns, 0) AS decode_tokens_per_s,
    q.mfu AS mfu_ratio,
    q.mbu AS mbu_ratio,
    q.padding AS padding_ratio,
    q.time_ns / nullif((SELECT sum(x.time_ns) FROM q x), 0) AS share_ratio,
    q.tokens AS token_mean_count,
    q.prompt_tokens AS prompt_token_mean_count,
    q.std_ns AS time_std_ns,
    q.min_ns AS time_min_ns,
    q.max_ns AS time_max_ns,
    q.timed AS timed_count,
    coalesce(w.n, 0) AS warmup_count,
    q.is_least
FROM q
LEFT JOIN warm w
    ON w.stage = q.stage
    AND w.sequence_count IS NOT DISTINCT FROM q.sequence_count
    AND w.mode IS NOT DISTINCT FROM q.mode
ORDER BY coalesce(array_position(['prefill', 'mixed', 'decode'], q.stage), 4), q.stage, q.sequence_count NULLS LAST,
    q.mode
