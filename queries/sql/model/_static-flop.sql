-- _static-flop: FLOP of each model component in one prefill, in the decode steps after it, and for the images of the prompt.
-- grain: one row of model_layer and stage
-- key: layer_id, stage
-- params:
--   run VARCHAR: the run
--   model BIGINT = NULL: model_id; default: as in _model-id
--   prefill BIGINT = NULL: tokens per prompt, image tokens included; for an encoder-decoder model such as T5, tokens the encoder reads;
--     default: those of the workload
--   decode BIGINT = NULL: decode steps after the prompt, the first with prefill + 1 tokens in its context (2 for a decoder whose encoder
--     reads the prompt); default: those of the workload
--   batch BIGINT = NULL: sequences; default: those of the workload, else 1
--   images BIGINT = NULL: images per prompt; default: those of the workload, else 0
--   crops BIGINT = NULL: crops per image; default: those of the workload, else 0
--   convention VARCHAR = 'full': full or causal
--   mla VARCHAR = 'expanded': absorbed or expanded
--   head VARCHAR = 'last': prompt positions whose logits are computed: last or all
--   context VARCHAR = 'auto': context length in decode: auto, max or fixed
--   fixed_context BIGINT = NULL: context length for context fixed
-- columns:
--   layer_id: the row
--   stage: prefill, decode or vision
--   part: decoder, encoder, or a part of the vision tower
--   view: image view that a vision part processes
--   layer_group: the layers in the group
--   layer_count: number of layers
--   component: component name within the layer
--   operator: kind of operation
--   shape: shape of the component as text
--   parameter_count: parameters in all layers of the group
--   flop: floating-point operations; NULL when a token count is unknown

WITH given AS (
    SELECT
        coalesce(prefill, w.prefill_count) AS p,
        coalesce(decode, w.decode_count) AS d,
        coalesce(batch, w.batch_count, 1)::HUGEINT AS b,
        coalesce(images, w.image_count, 0) AS i,
        coalesce(crops, w.crop_count, 0) AS c
    FROM (SELECT 1 AS one) _ LEFT JOIN _workload_size(run) w ON true
), chosen AS (
    SELECT count(z.source_cached_count) > 0 AS has_source
    FROM model_size z
    WHERE z.run_id = run AND z.model_id = _model_id(run, model)
), size AS ( -- where the encoder reads the prompt, the decoder's is the token that it starts from
    SELECT
        g.p,
        CASE WHEN n.has_source THEN least(g.p, 1) ELSE g.p END AS q,
        g.d,
        g.b,
        g.i,
        g.c
    FROM given g CROSS JOIN chosen n
    WHERE CASE
            WHEN least(g.p, g.d, g.b, g.i, g.c, fixed_context) < 0
                THEN error(
                    'ARGUMENT: --prefill, --decode, --batch, --images, --crops and --fixed-context are at least 0'
                )::BOOLEAN
            ELSE true
        END
), seen AS ( -- keys that queries meet, by window
    SELECT
        w.model_id,
        w.window_size,
        s.b,
        s.p AS source,
        s.q AS p,
        s.d,
        s.i,
        s.c,
        CASE head
            WHEN 'last' THEN least(s.q, 1)
            WHEN 'all' THEN s.q
            ELSE error('ARGUMENT: --head is last or all')::BIGINT
        END AS logits,
        _prefill_pairs(s.q, w.window_size, convention) AS prefill_pairs,
        _decode_pairs(s.q, s.d, w.window_size, context, w.max_context_count, fixed_context) AS decode_pairs,
        CASE mla
            WHEN 'absorbed' THEN s.d
            WHEN 'expanded' THEN _decode_pairs(s.q, s.d, NULL, context, w.max_context_count, fixed_context)
            ELSE error('ARGUMENT: --mla is absorbed or expanded')::HUGEINT
        END AS latents
    FROM (
        SELECT DISTINCT m.model_id, m.max_context_count, l.window_size
        FROM model m JOIN layer_cost l ON l.run_id = m.run_id AND l.model_id = m.model_id
        WHERE m.run_id = run AND m.model_id = _model_id(run, model)
    ) w
    CROSS JOIN size s
), x AS (
    SELECT
        c.layer_id,
        c.part,
        c.view,
        c.layer_group,
        c.layer_count,
        c.component,
        c.operator,
        c.shape,
        c.parameter_count,
        s.b
            * (
                coalesce(c.token_flop, 0)::HUGEINT * s.p
                    + coalesce(c.latent_flop, 0)::HUGEINT * s.p
                    + coalesce(c.logit_flop, 0)::HUGEINT * s.logits
                    + coalesce(c.pair_flop, 0)::HUGEINT * s.prefill_pairs
                    + coalesce(c.source_flop, 0)::HUGEINT * s.source
                    + coalesce(c.source_pair_flop, 0)::HUGEINT
                        * s.source
                        * CASE c.part WHEN 'encoder' THEN s.source ELSE s.p END
                    + coalesce(c.picture_flop, 0)::HUGEINT * least(s.p, 1)
            ) AS prefill_flop,
        s.b
            * (
                coalesce(c.token_flop, 0)::HUGEINT * s.d
                    + coalesce(c.logit_flop, 0)::HUGEINT * s.d
                    + coalesce(c.latent_flop, 0)::HUGEINT * s.latents
                    + coalesce(CASE mla WHEN 'absorbed' THEN c.absorbed_pair_flop ELSE c.pair_flop END, 0)::HUGEINT
                        * s.decode_pairs
                    + CASE WHEN c.source_pair_flop IS NULL THEN 0 ELSE c.source_pair_flop::HUGEINT * s.source * s.d END
            ) AS decode_flop,
        c.source_flop IS NULL AND c.picture_flop IS NULL AS decodes,
        s.b * s.i * c.picture_flop::HUGEINT * CASE WHEN c.view = 'crop' THEN s.c ELSE 1 END AS vision_flop
    FROM layer_cost c
    JOIN seen s ON s.model_id = c.model_id AND s.window_size IS NOT DISTINCT FROM c.window_size
    WHERE c.run_id = run AND c.operator IS NOT NULL
)
SELECT
    x.layer_id,
    unnest(
        CASE
            WHEN x.part = 'decoder' AND x.decodes
                THEN [
                    {'stage': 'prefill', 'flop': x.prefill_flop::BIGINT},
                    {'stage': 'decode', 'flop': x.decode_flop::BIGINT}
                ]
            WHEN x.part IN ('decoder', 'encoder') THEN [{'stage': 'prefill', 'flop': x.prefill_flop::BIGINT}]
            ELSE [{'stage': 'vision', 'flop': x.vision_flop::BIGINT}]
        END,
        recursive := true
    ),
    x.part,
    x.view,
    x.layer_group,
    x.layer_count,
    x.component,
    x.operator,
    x.shape,
    x.parameter_count
FROM x
