-- pass_cost: FLOP and bytes of each model in each measured pass, from the tokens of the pass, in parts that conventions select and sum.
-- grain: one model and one row of pass_time over all GPUs with known tokens; annotated steps have none for a model with an encoder
-- key: stage, range_id, model_id
-- needs: nvtx_range model_layer
-- columns:
--   stage VARCHAR: as in pass_time
--   range_id BIGINT: as in pass_time
--   model_id BIGINT: the model
--   is_least BOOLEAN: whether contexts are unknown, so that attention is counted at its minimum
--   base_flop BIGINT: FLOP under every convention: projections, experts, the head for decoded tokens, the images of a prefill, its encoder
--     and all cross attention; NULL when unknown, like every part
--   last_head_flop BIGINT: FLOP of the head for the last position of each prompt
--   all_head_flop BIGINT: FLOP of the head for all prompt positions
--   full_flop BIGINT: FLOP of prompt attention, all query-key pairs
--   causal_flop BIGINT: FLOP of prompt attention, only pairs the mask allows
--   expanded_flop BIGINT: FLOP of decode attention, keys and values of the whole context expanded from latents at each step
--   absorbed_flop BIGINT: FLOP of decode attention, queries multiplied with the latents themselves
--   plain_count DOUBLE: parameters in the model's precision that must be read, once per forward pass: as many experts as evenly choosing
--     tokens touch, one embedding row per token; the encoder and the keys and values of its output in a prefill only; NULL for images
--   packed_count DOUBLE: parameters in a precision of their own that must be read, counted as plain_count
--   packed_bytes DOUBLE: bytes of packed_count
--   cached_count DOUBLE: numbers that must be read of the keys and values (or latents) of context and source, and of recurrent states, once
--     per forward pass by each layer that uses them

-- An annotated step without the lengths of its contexts: prompts of equal length with nothing cached have the fewest pairs of a sum of
-- tokens (Cauchy and Schwarz), and a generated token sees at least itself. Windows need each length, which no annotation gives.
WITH p AS (
    SELECT
        p.stage,
        p.range_id,
        p.basis,
        p.prompt_count AS n,
        p.prompt_length_count AS len,
        p.prompt_token_count AS t,
        p.prompt_pair_count AS pairs,
        p.prompt_square_count AS squares,
        coalesce(p.prompt_key_count, p.prompt_token_count) AS prompt_keys,
        p.decode_count AS g,
        p.step_count AS steps,
        p.decode_token_count AS d,
        p.before_count AS before,
        p.decode_context_count AS contexts,
        CASE
            WHEN p.basis = 'annotation' THEN coalesce(p.decode_key_count, p.decode_token_count)
            ELSE p.decode_key_count
        END AS keys,
        p.image_count,
        p.crop_count,
        coalesce(
            p.basis = 'annotation'
                AND (
                    p.prompt_token_count > 0 AND p.prompt_pair_count IS NULL
                    OR p.decode_token_count > 0 AND (p.decode_key_count IS NULL OR p.decode_context_count IS NULL)
                ),
            false
        ) AS is_least,
        CASE
            WHEN p.prompt_token_count = 0 OR p.basis = 'workload' THEN 0
            ELSE p.prompt_key_count - p.prompt_token_count
        END AS cached,
        CASE WHEN p.prompt_token_count > 0 THEN 1 ELSE p.step_count END AS forwards,
        p.prompt_token_count
            + CASE WHEN p.prompt_token_count > 0 THEN p.decode_token_count ELSE p.decode_count END AS tokens
    FROM stage_pass p
    WHERE p.run_id = $run AND NOT p.is_warmup AND p.basis IS NOT NULL
), kind AS (
    SELECT
        l.model_id,
        bool_or(l.part = 'encoder') AS has_encoder,
        bool_or(l.source_flop IS NOT NULL) AS reads_prompt
    FROM layer_cost l
    WHERE l.run_id = $run
    GROUP BY l.model_id
), q AS (
    -- passes as each decoder sees them: where an encoder reads the prompt, its own begins with one token. Annotated steps do not say which
    -- of the two they count
    SELECT
        p.range_id,
        k.model_id,
        p.basis,
        p.n,
        p.pairs,
        p.squares,
        p.g,
        p.steps,
        p.d,
        p.image_count,
        p.crop_count,
        p.cached,
        CASE WHEN p.n > 0 THEN p.len ELSE f.prefill_count END AS source,
        CASE WHEN k.reads_prompt THEN p.n ELSE p.t END AS t,
        CASE WHEN k.reads_prompt THEN 1 ELSE p.len END AS len,
        CASE WHEN k.reads_prompt THEN p.n ELSE p.prompt_keys END AS prompt_keys,
        CASE WHEN k.reads_prompt THEN 1 + f.skipped_count ELSE p.before END AS before,
        CASE WHEN p.d > 0 THEN p.g * _context_sum(2 + f.skipped_count, 1 + f.skipped_count + p.steps, NULL) END AS own,
        CASE WHEN k.reads_prompt THEN own ELSE p.contexts END AS contexts,
        CASE WHEN k.reads_prompt THEN own ELSE p.keys END AS keys,
        CASE WHEN NOT k.reads_prompt THEN p.forwards WHEN p.n > 0 THEN 1 ELSE p.steps END AS forwards,
        CASE WHEN NOT k.reads_prompt THEN p.tokens WHEN p.n > 0 THEN p.n ELSE p.g END AS tokens
    FROM p CROSS JOIN kind k LEFT JOIN _said_pass f ON k.has_encoder AND f.range_id = p.range_id
    WHERE NOT (k.has_encoder AND p.basis = 'annotation')
), apart AS ( -- vision work whose ranges do not lie in a prefill is not in its time either
    SELECT EXISTS (
        SELECT 1
        FROM path_stage s
        WHERE s.run_id = $run
            AND s.note IN ('vision', 'sam', 'clip', 'siglip', 'vit', 'projector')
            AND s.note_path_id = s.path_id
            AND s.stage IS DISTINCT FROM 'prefill'
    ) AS is_apart
), seen AS ( -- keys that the queries of a pass meet, by window: sizes of layers differ, their windows hardly
    SELECT
        p.range_id,
        p.model_id,
        w.window_size,
        CASE
            WHEN p.t = 0 THEN 0
            WHEN p.len IS NOT NULL THEN p.n * _prefill_pairs(p.len, w.window_size, 'full')
            WHEN w.window_size IS NULL THEN coalesce(p.pairs::HUGEINT, p.t::HUGEINT * p.t // p.n)
        END AS full_pairs,
        CASE
            WHEN p.t = 0 THEN 0
            WHEN p.len IS NOT NULL THEN p.n * _prefill_pairs(p.len, w.window_size, 'causal')
            WHEN w.window_size IS NOT NULL THEN NULL
            WHEN p.pairs IS NULL THEN (p.t::HUGEINT * p.t // p.n + p.t) // 2
            ELSE p.pairs::HUGEINT - (p.squares - p.t) // 2
        END AS causal_pairs,
        CASE
            WHEN p.d = 0 THEN 0
            WHEN w.window_size IS NULL THEN p.keys
            ELSE p.g * _context_sum(p.before + 1, p.before + p.steps, w.window_size)
        END AS decode_pairs,
        CASE WHEN p.cached = 0 OR w.window_size IS NULL THEN p.cached END
            + CASE
                WHEN p.d = 0 THEN 0
                WHEN w.window_size IS NULL THEN p.contexts
                ELSE p.g * _context_sum(p.before + 1, p.before + p.steps, w.window_size)
            END AS cached_tokens
    FROM q p
    JOIN (SELECT DISTINCT l.model_id, l.window_size FROM layer_cost l WHERE l.run_id = $run) w
        ON w.model_id = p.model_id
), x AS (
    SELECT
        p.range_id,
        c.model_id,
        NOT c.is_vision AS is_decoder,
        c.is_vision AND c.operator IS NOT NULL AS is_vision,
        c.weight_bits,
        coalesce(c.token_flop, 0)::HUGEINT * (p.t + p.d)
            + coalesce(c.logit_flop, 0)::HUGEINT * p.d
            + coalesce(c.latent_flop, 0)::HUGEINT * p.prompt_keys
            + CASE
                WHEN c.on_source AND p.n = 0 OR c.is_vision THEN 0
                WHEN c.source_flop > 0 THEN c.source_flop::HUGEINT * p.n * p.source
                WHEN c.source_pair_flop > 0
                    THEN c.source_pair_flop::HUGEINT
                        * p.source
                        * CASE WHEN c.on_source THEN p.n * p.source ELSE p.t + p.d END
                ELSE coalesce(c.picture_flop, 0)::HUGEINT * p.n
            END AS base_flop,
        coalesce(c.logit_flop, 0)::HUGEINT * p.n AS last_flop,
        coalesce(c.logit_flop, 0)::HUGEINT * p.t AS all_flop,
        CASE WHEN c.pair_flop IS NULL OR c.part <> 'decoder' THEN 0 ELSE c.pair_flop * s.full_pairs END AS full_flop,
        CASE
            WHEN c.pair_flop IS NULL OR c.part <> 'decoder' THEN 0
            ELSE c.pair_flop * s.causal_pairs
        END AS causal_flop,
        CASE
            WHEN c.part <> 'decoder' THEN 0
            WHEN c.pair_flop IS NOT NULL THEN c.pair_flop * s.decode_pairs::HUGEINT
            WHEN c.latent_flop IS NULL OR p.d = 0 THEN 0
            ELSE c.latent_flop::HUGEINT
                * CASE WHEN p.basis = 'annotation' THEN coalesce(p.contexts, p.d) ELSE p.contexts END
        END AS expanded_flop,
        CASE
            WHEN c.part <> 'decoder' THEN 0
            WHEN c.pair_flop IS NOT NULL THEN c.absorbed_pair_flop * s.decode_pairs::HUGEINT
            ELSE coalesce(c.latent_flop, 0)::HUGEINT * p.d
        END AS absorbed_flop,
        CASE
            WHEN c.is_vision AND c.picture_flop IS NOT NULL
                THEN CASE
                    WHEN p.n = 0 OR p.image_count = 0 THEN 0
                    ELSE p.n::HUGEINT
                        * p.image_count
                        * c.picture_flop
                        * CASE WHEN c.view = 'crop' THEN p.crop_count ELSE 1 END
                END
        END AS vision_flop,
        CASE
            WHEN c.is_vision
                THEN CASE
                    WHEN p.n = 0 OR p.image_count = 0 OR a.is_apart THEN 0
                    WHEN p.image_count > 0 THEN c.parameter_count
                END
            WHEN c.on_source
                THEN CASE
                    WHEN p.n = 0 THEN 0
                    WHEN c.kind = 'embedding' THEN p.n * p.source * c.copy_parameter_count
                    ELSE c.copy_parameter_count
                END
            WHEN c.kind = 'attention' THEN 0
            WHEN c.kind = 'embedding' THEN p.forwards * p.tokens * c.copy_parameter_count
            ELSE p.forwards * c.copy_parameter_count * _distinct_copies(c.copy_count, c.active_count, p.tokens)
        END AS weight_count,
        CASE
            WHEN c.part <> 'decoder' THEN 0
            WHEN c.source_cached_count > 0
                THEN CASE WHEN p.d = 0 THEN 0 ELSE c.source_cached_count::HUGEINT * p.source * p.d END
            WHEN c.state_count > 0 THEN c.state_count::HUGEINT * p.d
            WHEN c.kind = 'attention' THEN c.cached_count::HUGEINT * s.cached_tokens
            ELSE 0
        END AS cached_count
    FROM q p
    CROSS JOIN apart a
    JOIN (
        SELECT
            l.*,
            l.part NOT IN ('decoder', 'encoder') AS is_vision,
            l.part = 'encoder' OR l.part = 'decoder' AND (l.source_flop > 0 OR l.picture_flop > 0) IS TRUE AS on_source
        FROM layer_cost l
        WHERE l.run_id = $run
    ) c ON c.model_id = p.model_id
    JOIN seen s
        ON s.range_id = p.range_id AND s.model_id = c.model_id AND s.window_size IS NOT DISTINCT FROM c.window_size
), y AS (
    SELECT
        x.range_id,
        x.model_id,
        count(*) FILTER (x.is_vision) AS vision,
        CASE
            WHEN count(x.vision_flop) FILTER (x.is_vision) = vision AND NOT any_value(a.is_apart)
                THEN sum(x.vision_flop)
        END AS image_flop,
        CASE WHEN count(x.base_flop) = count(*) THEN sum(x.base_flop) FILTER (x.is_decoder) END
            + CASE WHEN vision = 0 OR any_value(a.is_apart) THEN 0 ELSE image_flop END AS base_flop,
        sum(x.last_flop) FILTER (x.is_decoder) AS last_flop,
        sum(x.all_flop) FILTER (x.is_decoder) AS all_flop,
        CASE WHEN count(x.full_flop) = count(*) THEN sum(x.full_flop) END AS full_flop,
        CASE WHEN count(x.causal_flop) = count(*) THEN sum(x.causal_flop) END AS causal_flop,
        CASE WHEN count(x.expanded_flop) = count(*) THEN sum(x.expanded_flop) END AS expanded_flop,
        CASE WHEN count(x.absorbed_flop) = count(*) THEN sum(x.absorbed_flop) END AS absorbed_flop,
        CASE
            WHEN count(x.weight_count) = count(*)
                THEN coalesce(list_sum(list(x.weight_count ORDER BY x.weight_count) FILTER (x.weight_bits IS NULL)), 0)
        END AS plain_count,
        coalesce(
            list_sum(list(x.weight_count ORDER BY x.weight_count) FILTER (x.weight_bits IS NOT NULL)),
            0
        ) AS packed_count,
        coalesce(
            list_sum(
                list(x.weight_count * x.weight_bits / 8 ORDER BY x.weight_count * x.weight_bits / 8) FILTER (
                    x.weight_bits IS NOT NULL
                )
            ),
            0
        ) AS packed_bytes,
        CASE WHEN count(x.cached_count) = count(*) THEN sum(x.cached_count) END AS cached_count
    FROM x CROSS JOIN apart a
    GROUP BY x.range_id, x.model_id
)
SELECT
    u.stage,
    u.range_id,
    u.model_id,
    u.is_least,
    try_cast(u.base_flop AS BIGINT) AS base_flop,
    try_cast(u.last_flop AS BIGINT) AS last_head_flop,
    try_cast(u.all_flop AS BIGINT) AS all_head_flop,
    try_cast(u.full_flop AS BIGINT) AS full_flop,
    try_cast(u.causal_flop AS BIGINT) AS causal_flop,
    try_cast(u.expanded_flop AS BIGINT) AS expanded_flop,
    try_cast(u.absorbed_flop AS BIGINT) AS absorbed_flop,
    u.plain_count,
    u.packed_count,
    u.packed_bytes,
    u.cached_count
FROM (
    SELECT
        p.stage,
        y.range_id,
        y.model_id,
        p.is_least,
        y.base_flop,
        y.last_flop,
        y.all_flop,
        y.full_flop,
        y.causal_flop,
        y.expanded_flop,
        y.absorbed_flop,
        y.plain_count,
        y.packed_count,
        y.packed_bytes,
        y.cached_count
    FROM y JOIN p ON p.range_id = y.range_id
    UNION ALL
    SELECT
        'vision',
        y.range_id,
        y.model_id,
        false,
        y.image_flop,
        0,
        0,
        0,
        0,
        0,
        0,
        NULL,
        NULL,
        NULL,
        NULL
    FROM y JOIN p ON p.range_id = y.range_id
    WHERE p.stage = 'prefill' AND y.vision > 0
    UNION ALL
    SELECT
        t.stage,
        t.range_id,
        p.model_id,
        a.is_least OR b.is_least,
        p.base_flop + d.base_flop,
        p.last_flop + d.last_flop,
        p.all_flop + d.all_flop,
        p.full_flop + d.full_flop,
        p.causal_flop + d.causal_flop,
        p.expanded_flop + d.expanded_flop,
        p.absorbed_flop + d.absorbed_flop,
        p.plain_count + d.plain_count,
        p.packed_count + d.packed_count,
        p.packed_bytes + d.packed_bytes,
        p.cached_count + d.cached_count
    FROM pass_time t
    JOIN y p ON p.range_id = t.range_id
    JOIN y d ON d.range_id = t.decode_range_id AND d.model_id = p.model_id
    JOIN p a ON a.range_id = t.range_id
    JOIN p b ON b.range_id = t.decode_range_id
    WHERE t.run_id = $run AND t.device_id IS NULL
) u
