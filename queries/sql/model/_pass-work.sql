-- _pass-work: Each measured pass of each stage with its time, the operations of the model in it and the bytes that it must read, by the tokens that it worked on.
-- grain: one outermost range of a stage, warm-up left out
-- key: range_id
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only work on this GPU, and only passes that have some
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
--   model BIGINT = NULL: model_id; by default as in _model-id
--   convention VARCHAR = 'full': full or causal
--   mla VARCHAR = 'expanded': absorbed or expanded
--   head VARCHAR = 'last': positions of a prompt whose logits are computed: last or all
--   dtype VARCHAR = NULL: precision of weights and cache; by default as the configuration says, else the names of kernels
--   time_basis VARCHAR = 'gpu_span': time of a pass: gpu_span, gpu_busy, gpu_sum or cpu
-- columns:
--   stage: the stage
--   range_id: the range
--   source_id: the source
--   pid: process
--   start_ns: start on the CPU
--   end_ns: end on the CPU; NULL when it never ended
--   time_ns: its time; NULL when it has none
--   flop: operations of the decoder and, in a prefill, of the images; NULL when not known
--   vision_flop: those of the images alone; NULL when not known, or without a vision part
--   basis: where the tokens are from: workload or annotation; NULL when nothing says
--   is_least: whether contexts are not known, and attention is counted for the least that it can be
--   weight_bytes: weights, each once a forward pass: of experts as many as tokens that choose evenly touch, of embeddings a row a token; NULL when not known
--   kv_bytes: keys and values (or latents) of the tokens in the context, once a forward pass; NULL when not known

-- An annotated step without the lengths of its contexts: prompts of equal length with nothing cached have the fewest pairs of a sum of
-- tokens (Cauchy and Schwarz), and a generated token sees at least itself. Windows need each length, which no annotation gives.
WITH p AS (
    SELECT p.stage, p.range_id, p.source_id, p.pid, p.start_ns, p.end_ns, p.basis, p.prompt_count AS n, p.prompt_length_count AS len, p.prompt_token_count AS t, p.prompt_pair_count AS pairs, p.prompt_square_count AS squares,
        coalesce(p.prompt_key_count, p.prompt_token_count) AS prompt_keys, p.decode_count AS g, p.step_count AS steps, p.decode_token_count AS d, p.before_count AS before, p.decode_context_count AS contexts,
        CASE WHEN p.basis = 'annotation' THEN coalesce(p.decode_key_count, p.decode_token_count) ELSE p.decode_key_count END AS keys, p.image_count, p.crop_count,
        p.basis = 'annotation' AND (p.prompt_token_count > 0 AND p.prompt_pair_count IS NULL OR p.decode_token_count > 0 AND (p.decode_key_count IS NULL OR p.decode_context_count IS NULL)) AS is_least,
        CASE WHEN p.prompt_token_count = 0 OR p.basis = 'workload' THEN 0 ELSE p.prompt_key_count - p.prompt_token_count END AS cached,
        CASE WHEN p.prompt_token_count > 0 THEN 1 ELSE p.step_count END AS forwards, p.prompt_token_count + CASE WHEN p.prompt_token_count > 0 THEN p.decode_token_count ELSE p.decode_count END AS tokens,
        CASE time_basis WHEN 'gpu_span' THEN p.gpu_span_ns WHEN 'gpu_busy' THEN p.gpu_busy_ns WHEN 'gpu_sum' THEN p.gpu_sum_ns WHEN 'cpu' THEN p.cpu_ns ELSE error('ARGUMENT: --time-basis is gpu_span, gpu_busy, gpu_sum or cpu')::BIGINT END AS time_ns
    FROM _stage_pass(run, device := device, source := source) p
    WHERE NOT p.is_warmup
), x AS (
    SELECT p.range_id, p.is_least, c.part,
        coalesce(c.token_flop, 0)::HUGEINT * (p.t + p.d)
        + coalesce(c.logit_flop, 0)::HUGEINT * (CASE head WHEN 'last' THEN p.n WHEN 'all' THEN p.t ELSE error('ARGUMENT: --head is last or all')::BIGINT END + p.d)
        + CASE WHEN c.latent_flop IS NULL THEN 0 ELSE c.latent_flop::HUGEINT * (p.prompt_keys + CASE WHEN p.d = 0 THEN 0 WHEN _absorbs(mla) THEN p.d WHEN p.basis = 'annotation' THEN coalesce(p.contexts, p.d) ELSE p.contexts END) END
        + CASE WHEN c.pair_flop IS NULL THEN 0 ELSE c.pair_flop::HUGEINT * CASE WHEN p.t = 0 THEN 0 WHEN p.len IS NOT NULL THEN p.n * _prefill_pairs(p.len, c.window_size, convention)
                WHEN c.window_size IS NOT NULL THEN NULL WHEN convention = 'full' THEN coalesce(p.pairs::HUGEINT, p.t::HUGEINT * p.t // p.n)
                WHEN p.pairs IS NULL THEN (p.t::HUGEINT * p.t // p.n + p.t) // 2 ELSE p.pairs::HUGEINT - (p.squares - p.t) // 2 END
            + CASE WHEN _absorbs(mla) THEN c.absorbed_pair_flop ELSE c.pair_flop END::HUGEINT * CASE WHEN p.d = 0 THEN 0 WHEN c.window_size IS NULL THEN p.keys
                ELSE p.g * _context_sum(p.before + 1, p.before + p.steps, c.window_size) END END AS flop,
        CASE WHEN c.picture_flop IS NOT NULL THEN CASE WHEN p.n = 0 OR p.image_count = 0 THEN 0 ELSE p.n::HUGEINT * p.image_count * c.picture_flop * CASE WHEN c.view = 'crop' THEN p.crop_count ELSE 1 END END END AS vision_flop
    FROM p CROSS JOIN _layer_cost(run, model := model) c
), s AS (
    SELECT x.range_id, bool_or(x.is_least) AS is_least, count(*) FILTER (x.part = 'decoder') AS decoder, CASE WHEN count(x.flop) FILTER (x.part = 'decoder') = decoder AND decoder > 0 THEN sum(x.flop) FILTER (x.part = 'decoder') END AS decoder_flop,
        count(*) FILTER (x.part <> 'decoder') AS vision, CASE WHEN count(x.vision_flop) = vision AND vision > 0 THEN sum(x.vision_flop) END AS vision_flop
    FROM x GROUP BY ALL
), apart AS ( -- vision work whose ranges do not lie in a prefill is not in its time either
    SELECT EXISTS (SELECT 1 FROM path_stage s WHERE s.run_id = run AND s.note IN ('vision', 'sam', 'clip', 'siglip', 'vit', 'projector') AND s.note_path_id = s.path_id AND s.stage IS DISTINCT FROM 'prefill') AS is_apart
), doubt AS (
    SELECT r.precision, r.origin FROM _run_precision(run, model := model, dtype := dtype, source := source) r
), l AS (
    SELECT l.part, l.kind, l.window_size, l.copy_count, l.active_count, l.copy_bytes * d.is_sure AS copy_bytes, l.stored_bytes * d.is_sure AS stored_bytes, l.kv_bytes * d.is_sure AS kv_bytes
    FROM _layer_weight(run, dtype := dtype, fallback := (SELECT d.precision FROM doubt d)) l
    CROSS JOIN (SELECT CASE WHEN dtype IS NULL AND d.origin = 'neither' THEN NULL ELSE 1 END AS is_sure FROM doubt d) d
    WHERE l.model_id = _model_id(run, model)
), y AS (
    SELECT p.range_id, CASE WHEN l.part <> 'decoder' THEN CASE WHEN p.n = 0 OR p.image_count = 0 OR a.is_apart THEN 0 WHEN p.image_count > 0 THEN l.stored_bytes END
            WHEN l.kind = 'attention' THEN 0 WHEN l.kind = 'embedding' THEN p.forwards * p.tokens * l.copy_bytes
            ELSE p.forwards * l.copy_bytes * _distinct_copies(l.copy_count, l.active_count, p.tokens) END AS weight_bytes,
        CASE WHEN l.kind <> 'attention' OR l.part <> 'decoder' THEN 0 ELSE l.kv_bytes * (CASE WHEN p.cached = 0 OR l.window_size IS NULL THEN p.cached END
            + CASE WHEN p.d = 0 THEN 0 WHEN l.window_size IS NULL THEN p.contexts ELSE (p.g * _context_sum(p.before + 1, p.before + p.steps, l.window_size))::BIGINT END) END AS kv_bytes
    FROM p CROSS JOIN l CROSS JOIN apart a
), z AS (
    SELECT y.range_id, CASE WHEN count(y.weight_bytes) = count(*) THEN list_sum(list(y.weight_bytes ORDER BY y.weight_bytes)) END AS weight_bytes, CASE WHEN count(y.kv_bytes) = count(*) THEN list_sum(list(y.kv_bytes ORDER BY y.kv_bytes)) END AS kv_bytes
    FROM y GROUP BY y.range_id
)
SELECT p.stage, p.range_id, p.source_id, p.pid, p.start_ns, p.end_ns, p.time_ns, (s.decoder_flop + CASE WHEN s.vision = 0 OR a.is_apart THEN 0 ELSE s.vision_flop END)::BIGINT AS flop, CASE WHEN NOT a.is_apart THEN s.vision_flop END::BIGINT AS vision_flop,
    p.basis, coalesce(s.is_least, false) AS is_least, z.weight_bytes, z.kv_bytes
FROM p CROSS JOIN apart a LEFT JOIN s ON s.range_id = p.range_id LEFT JOIN z ON z.range_id = p.range_id
