-- legacy-mfu v2: The utilisation that this project's first implementation would have printed, by its formulas, beside the right one: to compare with old reports, for nothing else.
-- grain: one stage
-- key: stage
-- notes: mfu launch range timelines
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
--   time_basis VARCHAR = 'gpu_span': time of a pass: gpu_span (first start to last end of its device work), gpu_busy (union of its intervals), gpu_sum or cpu (the range on its thread)
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   stage: model, prefill, decode, and vision where the run has it
--   passes: measured passes, over processes; warm-up left out
--   legacy_flop: operations of the mean pass by the formulas of old; NULL when its tokens or the model are not known
--   legacy_mfu_ratio: these / (peak x legacy_time_ns), at the dense peak; the first implementation took peaks with sparsity, twice as high, for H100 and H200. Not clipped
--   flop: operations of the mean pass, as in mfu
--   mfu_ratio: as in mfu
--   wrong: what the formulas of old leave out or count wrongly, of this model
--   legacy_time_ns: time they divide by: of model the sum of prefill, decode and vision
--   time_ns: mean time of a pass, as in mfu
--   peak_flop_per_s: dense peak of the GPUs that worked in a pass, together; NULL when not known

-- With d the model's width, f that of its plain MLP (where it has only experts, of one), n its layers, p and T the prompt's and the new
-- tokens of a sequence: decode = T n (4 d f + 2 d^2 + 2 d (p + T/2)); prefill = n (4 d f + 2 d^2) p + 2 n d p (p + 1) / 2;
-- model = prefill + decode, by the sum of three times; vision was printed as 0.
WITH u AS MATERIALIZED (
    SELECT u.stage, u.passes, u.flop, u.time_ns, u.peak_flop_per_s, u.mfu_ratio
    FROM mfu_v2(run, device := device, source := source, model := model, convention := convention, mla := mla, head := head, compute := compute, dtype := dtype, peak := peak, time_basis := time_basis) u
    WHERE u.stage IN ('model', 'prefill', 'decode', 'vision')
), shape AS (
    SELECT m.hidden_size AS d, m.layer_count AS n, coalesce(max(l.input_size) FILTER (starts_with(l.component, 'mlp.') AND l.output_size = m.hidden_size),
            max(l.input_size) FILTER (starts_with(l.component, 'experts.') AND l.output_size = m.hidden_size)) AS f,
        bool_or(l.component IN ('mlp.gate_proj', 'mlp.gate_up_proj')) AS is_gated, bool_or(starts_with(l.component, 'experts.')) AS has_experts, bool_or(l.scope = 'logit') AS has_head
    FROM model m JOIN model_layer l ON l.run_id = m.run_id AND l.model_id = m.model_id
    WHERE m.run_id = _run_id_v1(run) AND m.model_id = _model_id_v1(run, model) AND l.part = 'decoder' AND l.kind = 'linear'
    GROUP BY m.hidden_size, m.layer_count
), said AS ( -- of passes that differ the means, as of old
    SELECT coalesce(list_avg(list(e.prefill_count ORDER BY e.prefill_count) FILTER (e.back_count > 0)), max(e.prefill_count) FILTER (e.back_count = 0))
        + coalesce(list_avg(list(e.decode_count ORDER BY e.decode_count) FILTER (e.back_count > 0)), max(e.decode_count) FILTER (e.back_count = 0)) / 2 AS context
    FROM _workload_entry_v1(run, source := source) e
), pass AS (
    SELECT p.stage, CASE p.stage WHEN 'prefill' THEN p.prompt_count * p.prompt_length_count ELSE p.decode_token_count END AS tokens,
        p.prompt_count * (p.prompt_length_count * (p.prompt_length_count + 1) // 2) AS pairs
    FROM _stage_pass_v1(run, device := device, source := source) p WHERE NOT p.is_warmup AND p.stage IN ('prefill', 'decode')
), mean AS (
    SELECT p.stage, CASE WHEN count(p.tokens) = count(*) THEN _mean_v1(p.tokens) END AS tokens, CASE WHEN count(p.pairs) = count(*) THEN _mean_v1(p.pairs) END AS pairs
    FROM pass p GROUP BY p.stage
), work AS (
    SELECT m.stage, s.n * (m.tokens * (4.0 * s.d * s.f + 2.0 * s.d * s.d) + 2.0 * s.d * CASE m.stage WHEN 'prefill' THEN m.pairs ELSE m.tokens * said.context END)::DOUBLE AS flop
    FROM mean m CROSS JOIN shape s CROSS JOIN said
), old AS (
    SELECT u.stage, CASE u.stage WHEN 'vision' THEN 0 WHEN 'model' THEN (SELECT CASE WHEN count(w.flop) = 2 THEN sum(w.flop) END FROM work w) ELSE w.flop END::DOUBLE AS flop,
        CASE u.stage WHEN 'model' THEN (SELECT CASE WHEN count(x.time_ns) = count(*) THEN list_sum(list(x.time_ns ORDER BY x.time_ns)) END FROM u x WHERE x.stage <> 'model') ELSE u.time_ns END AS time_ns
    FROM u LEFT JOIN work w ON w.stage = u.stage
), part AS (
    SELECT coalesce(bool_or(u.stage = 'vision'), false) AS has_vision FROM u
)
SELECT u.stage, u.passes, old.flop AS legacy_flop, old.flop / (u.peak_flop_per_s * nullif(old.time_ns, 0) / 1e9) AS legacy_mfu_ratio, u.flop, u.mfu_ratio,
    CASE WHEN u.stage = 'vision' THEN 'was not estimated, and printed as 0' WHEN s.d IS NOT NULL THEN concat_ws('; ',
        CASE WHEN u.stage = 'model' AND part.has_vision THEN 'the time of vision counts twice, as it is in the prefill' END,
        CASE WHEN u.stage <> 'decode' AND part.has_vision THEN 'operations of vision left out' END,
        'projections of attention as one matrix of d x d', 'one product of attention in place of two',
        CASE WHEN s.is_gated THEN 'a gated MLP as two matrices in place of three' END,
        CASE WHEN s.has_experts THEN 'one MLP in place of a router and the experts of a token' END,
        CASE WHEN s.has_head THEN 'no head' END) END AS wrong,
    old.time_ns AS legacy_time_ns, u.time_ns, u.peak_flop_per_s
FROM u JOIN old ON old.stage = u.stage CROSS JOIN part LEFT JOIN shape s ON true
ORDER BY array_position(['model', 'prefill', 'decode', 'vision'], u.stage)
