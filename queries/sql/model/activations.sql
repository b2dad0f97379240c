-- activations v1: Activation memory of a model by group of equal layers, for one prefill, one decode step and the images of the prompt,
--     from its configuration.
-- grain: one stage, part, view and group of layers
-- key: stage, layer
-- notes: model
-- params:
--   run VARCHAR: the run
--   model BIGINT = NULL: model_id; default: a model given as a configuration, else the one described by the workload
--   prefill BIGINT = NULL: tokens per prompt, image tokens included; for an encoder-decoder model such as T5, tokens the encoder reads;
--     default: those of the workload
--   batch BIGINT = NULL: sequences; default: those of the workload, else 1
--   images BIGINT = NULL: images per prompt; default: those of the workload, else 0
--   crops BIGINT = NULL: crops per image; default: those of the workload, else 0
--   mla VARCHAR = 'expanded': latent attention in decode: expanded (keys and values of the whole context are recomputed each step, as in
--     transformers) or absorbed (as in serving engines)
--   head VARCHAR = 'last': prompt positions whose logits are computed: last or all
--   dtype VARCHAR = NULL: precision of activations; default: that of the configuration
-- columns:
--   stage: prefill (all sequences), decode (one step of all sequences, the first after the prompt) or vision (all images of the prompt at
--     once)
--   layer: row of the group's first component in model-layers
--   part: decoder, encoder, or a part of the vision tower
--   view: image view that a vision part processes
--   layer_group: the layers in the group
--   layer_count: layers in the group
--   written_bytes: bytes one layer writes: outputs of matrix products, convolutions, attention, recurrences and lookups. Norms, activation
--     functions and sums count as fused, and attention scores as never written; NULL when a token count or the precision is unknown
--   peak_bytes: peak activation memory in the layer: what bypasses it for each token (decoder width, outputs of matrices next to the
--     embedding that later layers use, and in an encoder-decoder's prefill the encoder output) plus inputs and outputs of one component.
--     Excludes caches, images and audio; NULL when a token count or the precision is unknown
--   peak_component: the component that sets the peak, the first of equals

-- Long: a formula for each kind of component of decoders, encoders and vision parts.
WITH given AS (
    SELECT
        coalesce(prefill, w.prefill_count) AS p,
        coalesce(batch, w.batch_count, 1)::HUGEINT AS b,
        coalesce(images, w.image_count, 0) AS i,
        coalesce(crops, w.crop_count, 0) AS c
    FROM (SELECT 1 AS one) _ LEFT JOIN _workload_size(run) w ON true
), chosen AS (
    SELECT
        coalesce(bool_or(l.scope = 'source'), false) AS reads_prompt,
        max(l.position_count) FILTER (l.part = 'decoder') AS positions
    FROM model_layer l
    WHERE l.run_id = run AND l.model_id = _model_id(run, model)
), size AS ( -- p are the decoder's: where an encoder reads the prompt, the token that it starts from
    SELECT
        z.p,
        z.b,
        z.i,
        z.c,
        z.source,
        CASE head
            WHEN 'last' THEN CASE WHEN z.p > 0 THEN 1 ELSE z.p END
            WHEN 'all' THEN z.p
            ELSE error('ARGUMENT: --head is last or all')::BIGINT
        END AS logits,
        CASE mla
            WHEN 'absorbed' THEN 1
            WHEN 'expanded' THEN z.p + 1
            ELSE error('ARGUMENT: --mla is absorbed or expanded')::BIGINT
        END AS latents
    FROM (
        SELECT
            CASE WHEN n.reads_prompt AND g.p > 0 THEN 1 ELSE g.p END AS p,
            CASE WHEN n.reads_prompt THEN g.p WHEN n.positions IS NULL OR g.p = 0 THEN 0 ELSE n.positions END AS source,
            g.b,
            g.i,
            g.c
        FROM given g CROSS JOIN chosen n
    ) z
    WHERE CASE
            WHEN least(z.p, z.b, z.i, z.c) < 0
                THEN error('ARGUMENT: --prefill, --batch, --images and --crops are at least 0')::BOOLEAN
            ELSE true
        END
), x AS ( -- numbers of each component for one of its rows
    SELECT
        l.layer_id,
        l.part,
        l.view,
        l.layer_group,
        l.layer_count,
        l.component,
        l.scope,
        l.position_count,
        l.part = 'decoder'
        AND l.kind <> 'attention'
        AND coalesce(l.scope IN ('source', 'position'), false) AS makes_source,
        l.kind = 'attention' AND l.part = 'decoder' AND (l.scope = 'source' OR l.key_count IS NOT NULL) AS is_cross,
        l.kv_head_count * (l.key_size + l.value_size) AS kv_count,
        CASE
            WHEN l.part <> 'encoder' OR l.kind <> 'convolution' THEN 0
            ELSE coalesce(
                lag(l.position_count * l.output_size) OVER (PARTITION BY l.part, l.kind ORDER BY l.layer_id),
                0
            )
        END AS frame_count, -- what the convolution before it wrote
        CASE l.kind
            WHEN 'attention'
                THEN l.head_count * l.key_size
                    + CASE WHEN l.part = 'decoder' AND (l.scope = 'source' OR l.key_count IS NOT NULL) THEN 0 ELSE 1 END
                        * coalesce(l.kv_head_count, 0)
                        * (l.key_size + coalesce(l.value_size, 0))
            WHEN 'mixing' THEN l.input_size
            WHEN 'linear'
                THEN l.input_size::HUGEINT
                    * CASE WHEN l.copy_count > 1 AND ends_with(l.component, 'down_proj') THEN l.active_count ELSE 1 END
                    + coalesce(g.output_size, 0)
            ELSE 0
        END AS input_count,
        CASE
            WHEN l.kind IN ('attention', 'recurrence') THEN l.head_count * coalesce(l.value_size, 0)
            WHEN l.kind IN ('linear', 'convolution', 'mixing') THEN l.output_size::HUGEINT * l.active_count
            ELSE l.output_size
        END AS output_count,
        CASE
            WHEN l.part IN ('decoder', 'encoder') AND NOT (l.part = 'encoder' AND l.kind = 'convolution')
                THEN m.hidden_size
                    + coalesce(
                        (
                            SELECT sum(e.output_size * e.active_count)
                            FROM model_layer e
                            WHERE e.run_id = l.run_id
                                AND e.model_id = l.model_id
                                AND e.part = l.part
                                AND e.layer_group = 'embedding'
                                AND e.kind = 'linear'
                                AND e.layer_id < l.layer_id
                        ),
                        0
                    )
            ELSE 0
        END AS past_count,
        _dtype_bits(coalesce(dtype, m.dtype)) / 8.0::DOUBLE AS bytes
    FROM model_layer l
    JOIN model m ON m.run_id = l.run_id AND m.model_id = l.model_id
    LEFT JOIN model_layer g
        ON g.run_id = l.run_id
        AND g.model_id = l.model_id
        AND g.layer_group = l.layer_group
        AND g.part = l.part
        AND ends_with(l.component, '.up_proj')
        AND g.component = replace(l.component, '.up_proj', '.gate_proj') -- waits for it
    WHERE l.run_id = run
        AND l.model_id = _model_id(run, model)
        AND (
            l.kind IN ('linear', 'convolution', 'mixing', 'attention', 'recurrence')
            AND (l.part IN ('decoder', 'encoder') OR l.view IS NOT NULL)
            OR l.kind = 'embedding' AND l.part IN ('decoder', 'encoder')
        )
), y AS (
    SELECT
        x.layer_id,
        x.part,
        x.view,
        x.layer_group,
        x.layer_count,
        x.component,
        x.input_count,
        x.output_count,
        x.past_count,
        x.bytes,
        unnest(
            CASE
                WHEN x.part = 'encoder'
                    THEN [{
                        'stage': 'prefill',
                        'row_count': s.b * CASE WHEN s.p = 0 THEN 0 ELSE coalesce(x.position_count, s.source) END,
                        'more_count': s.b * x.frame_count * least(s.p, 1)
                    }]
                WHEN x.part <> 'decoder'
                    THEN [{
                        'stage': 'vision',
                        'row_count': s.b * s.i * CASE WHEN x.view = 'crop' THEN s.c ELSE 1 END * x.position_count,
                        'more_count': 0
                    }]
                WHEN x.makes_source
                    THEN [{
                        'stage': 'prefill',
                        'row_count': s.b * s.source,
                        'more_count': s.b * (s.p - s.source) * x.past_count
                    }]
                ELSE [
                    {
                        'stage': 'prefill',
                        'row_count': s.b * CASE x.scope WHEN 'logit' THEN s.logits ELSE s.p END,
                        'more_count': CASE
                            WHEN x.scope = 'logit' THEN 0
                            ELSE s.b * s.source * (x.past_count + CASE WHEN x.is_cross THEN x.kv_count ELSE 0 END)
                        END
                    },
                    {
                        'stage': 'decode',
                        'row_count': s.b * CASE x.scope WHEN 'latent' THEN s.latents ELSE 1 END,
                        'more_count': 0
                    }
                ]
            END,
            recursive := true
        )
    FROM x CROSS JOIN size s
)
SELECT
    y.stage,
    min(y.layer_id) AS layer,
    y.part,
    y.view,
    y.layer_group,
    y.layer_count,
    CASE
        WHEN count(y.row_count * y.bytes) = count(*) THEN sum(y.row_count * y.output_count) * any_value(y.bytes)
    END::DOUBLE AS written_bytes,
    max(y.needed_count * y.bytes)::DOUBLE AS peak_bytes,
    arg_max(y.component, y.needed_count * y.bytes ORDER BY y.layer_id) AS peak_component
FROM (
    SELECT
        y.stage,
        y.layer_id,
        y.part,
        y.view,
        y.layer_group,
        y.layer_count,
        y.component,
        y.output_count,
        y.row_count,
        y.bytes,
        y.row_count * (y.past_count + y.input_count + y.output_count) + y.more_count AS needed_count
    FROM y
) y
GROUP BY y.stage, y.part, y.view, y.layer_group, y.layer_count
ORDER BY array_position(['prefill', 'decode', 'vision'], y.stage), layer
