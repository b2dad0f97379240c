-- layer_cost: Cost of each component of a model's layers per token, query-key pair and image, and what it caches and reads: parameters,
--     FLOP and bytes of any pass are sums of these.
-- grain: one row of model_layer
-- key: model_id, layer_id
-- needs: model_layer
-- columns:
--   model_id BIGINT: the model
--   layer_id INTEGER: the row
--   part VARCHAR: decoder, encoder (of a source the decoder attends to), or another part: sam, clip, siglip, vit, ... of the vision tower,
--     projector, text
--   view VARCHAR: image that a vision part processes: image, global or crop
--   layer_group VARCHAR: the layers in the group
--   layer_count BIGINT: number of layers; all columns below cover all of them
--   component VARCHAR: component name within the layer
--   kind VARCHAR: linear, convolution, relative_position, mixing, attention, recurrence, embedding, norm or parameter
--   operator VARCHAR: kind of operation: projection, attention, cross attention, mlp, experts, shared experts, router, head, convolution,
--     relative_position, mixing, recurrence; NULL without multiplications
--   shape VARCHAR: inputs x outputs of a matrix, with active and total experts; heads and their sizes for attention and states; NULL
--     without multiplications
--   window_size BIGINT: attention: tokens that one token attends to; NULL for all
--   position_count BIGINT: vision: rows multiplied per image; audio: rows multiplied per sequence
--   token_flop BIGINT: FLOP per token; for cross attention to audio, per decoder token
--   logit_flop BIGINT: FLOP per token whose logits are computed
--   latent_flop BIGINT: FLOP per token whose keys and values are expanded from the latent
--   pair_flop BIGINT: attention: FLOP per query-key pair
--   absorbed_pair_flop BIGINT: the same when queries multiply the latents themselves (MLA)
--   picture_flop BIGINT: FLOP per image of the view; for audio once per sequence: the encoder, and the decoder's keys and values from its
--     output
--   source_flop BIGINT: FLOP per source token, where the source is tokens
--   source_pair_flop BIGINT: attention with source tokens as keys: FLOP per query-key pair. Queries are source tokens in an encoder,
--     decoder tokens in cross attention
--   parameter_count BIGINT: parameters; 0 when another row counts them (tied embeddings, a second view)
--   active_parameter_count BIGINT: parameters that multiply one token, those of a tied head included; excludes embeddings, norms, biases,
--     inactive experts, and decoder parts that work on the source
--   copy_count BIGINT: matrices per layer: 1, or the number of experts
--   active_count BIGINT: active experts per token
--   copy_parameter_count DOUBLE: parameters read per matrix of copy_count; for an embedding, per row
--   cached_count BIGINT: attention: numbers read per context token; what layers cache, except layers that share another's keys and values
--   source_cached_count BIGINT: cross attention: numbers cached per source token
--   state_count BIGINT: recurrence, convolution over tokens and cross attention to audio: numbers kept per sequence, whatever its length
--   weight_bits DOUBLE: bits per parameter stored in a precision of its own; NULL when in the model's precision

-- A matrix of m x n costs 2 m n for each row multiplied: m n multiply-adds, as torch.utils.flop_counter counts mm, addmm, bmm and
-- convolution. Attention costs 2 (key_size + value_size) for each head, query and key: scores and weighted values (sdpa_flop); an indexer
-- has no values. With absorbed matrices the key is the latent and the rotary key, the value the latent: arXiv 2405.04434, section 2.1.2.
-- Biases, norms, softmax, activations and lookups count nothing. A recurrence costs 2 for each number of its state and each product that a
-- token adds to it or reads from it (active_count of model_layer has their papers). A convolution over tokens keeps the inputs of its
-- kernel but the last. No product is too large: the reader of configurations refuses such a model.
WITH l AS (
    SELECT
        l.model_id,
        l.layer_id,
        l.part,
        l.view,
        l.layer_group,
        l.layer_count,
        l.component,
        l.kind,
        l.scope,
        l.window_size,
        l.position_count,
        l.key_count,
        l.head_count,
        l.kv_head_count,
        l.key_size,
        l.value_size,
        coalesce(
            l.part = 'decoder' AND (l.scope IN ('source', 'position') OR l.key_count IS NOT NULL),
            false
        ) AS is_cross,
        l.input_size,
        l.output_size,
        l.copy_count AS copies,
        l.active_count AS active,
        l.parameter_count,
        l.weight_bits,
        coalesce(l.copy_count, 1) AS copy_count,
        coalesce(l.active_count, 1) AS active_count,
        l.state_size,
        CASE
            WHEN l.kind IN ('linear', 'convolution', 'relative_position', 'mixing')
                THEN 2::HUGEINT * l.layer_count * l.input_size * l.output_size * l.active_count
            WHEN l.kind = 'recurrence' THEN 2::HUGEINT * l.layer_count * l.state_size * l.active_count
        END AS row_flop,
        CASE
            WHEN l.kind = 'attention'
                THEN 2::HUGEINT * l.layer_count * l.head_count * (l.key_size + coalesce(l.value_size, 0))
        END AS pair_flop,
        CASE
            WHEN l.kind = 'attention' AND l.latent_size IS NOT NULL THEN 2 * l.latent_size + coalesce(l.rope_size, 0)
        END AS absorbed_size,
        CASE
            WHEN l.kind = 'attention'
                THEN CASE
                    WHEN l.latent_size IS NULL
                        THEN coalesce(l.kv_head_count, 0) * (l.key_size + coalesce(l.value_size, 0))
                    ELSE l.latent_size + coalesce(l.rope_size, 0)
                END
        END AS cached_size
    FROM (
        SELECT
            x.*,
            CASE
                WHEN x.kind = 'recurrence' THEN x.head_count * x.key_size * x.value_size
                WHEN x.kind = 'convolution' AND x.scope = 'token' THEN x.output_size * (x.input_size - 1)
            END AS state_size
        FROM model_layer x
    ) l
    WHERE l.run_id = $run
)
SELECT
    l.model_id,
    l.layer_id,
    l.part,
    l.view,
    l.layer_group,
    l.layer_count,
    l.component,
    l.kind,
    CASE
        WHEN l.kind IN ('embedding', 'norm', 'parameter') THEN NULL
        WHEN l.kind = 'attention' AND l.is_cross THEN 'cross attention'
        WHEN l.kind <> 'linear' THEN l.kind
        WHEN l.scope = 'logit' THEN 'head'
        WHEN l.component = 'router' THEN 'router'
        WHEN starts_with(l.component, 'experts.') THEN 'experts'
        WHEN starts_with(l.component, 'shared_expert') THEN 'shared experts'
        WHEN starts_with(l.component, 'mlp.') THEN 'mlp'
        ELSE 'projection'
    END AS operator,
    CASE
        WHEN l.kind = 'recurrence' THEN concat(l.head_count, ' states of ', l.key_size, ' x ', l.value_size)
        WHEN l.kind = 'attention'
            THEN concat(
                l.head_count,
                CASE WHEN l.kv_head_count <> l.head_count THEN concat(' over ', l.kv_head_count) ELSE '' END,
                ' heads of ',
                l.key_size,
                CASE WHEN l.value_size <> l.key_size THEN concat(' and ', l.value_size) ELSE '' END,
                CASE WHEN l.window_size IS NOT NULL THEN concat(', window ', l.window_size) ELSE '' END
            )
        WHEN l.input_size IS NOT NULL
            THEN concat(
                l.input_size,
                ' x ',
                l.output_size,
                CASE
                    WHEN l.copies > 1 THEN concat(', ', l.active, ' of ', l.copies)
                    WHEN l.active > 1 THEN concat(', ', l.active, ' times')
                    ELSE ''
                END
            )
    END AS shape,
    l.window_size,
    l.position_count,
    CASE WHEN l.scope = 'token' THEN coalesce(l.row_flop, l.pair_flop * l.key_count) END::BIGINT AS token_flop,
    CASE WHEN l.scope = 'logit' THEN l.row_flop END::BIGINT AS logit_flop,
    CASE WHEN l.scope = 'latent' THEN l.row_flop END::BIGINT AS latent_flop,
    CASE WHEN l.scope = 'token' AND l.key_count IS NULL THEN l.pair_flop END::BIGINT AS pair_flop,
    CASE
        WHEN l.scope = 'token' AND l.key_count IS NULL
            THEN CASE
                WHEN l.absorbed_size IS NULL THEN l.pair_flop
                ELSE 2::HUGEINT * l.layer_count * l.head_count * l.absorbed_size
            END
    END::BIGINT AS absorbed_pair_flop,
    CASE
        WHEN l.scope = 'position' THEN coalesce(l.row_flop, l.pair_flop * l.key_count) * l.position_count
    END::BIGINT AS picture_flop,
    CASE WHEN l.scope = 'source' THEN l.row_flop END::BIGINT AS source_flop,
    CASE WHEN l.scope = 'source' THEN l.pair_flop END::BIGINT AS source_pair_flop,
    l.parameter_count * l.layer_count AS parameter_count,
    CASE
        WHEN l.kind IN ('linear', 'convolution') AND coalesce(l.view, '') <> 'crop' AND NOT l.is_cross
            THEN l.input_size::HUGEINT * l.output_size * least(l.active_count, l.copy_count) * l.layer_count
        ELSE 0
    END::BIGINT AS active_parameter_count,
    l.copy_count,
    l.active_count,
    l.layer_count
        * CASE
            WHEN l.kind = 'embedding' THEN l.output_size
            WHEN l.scope = 'logit' THEN greatest(l.parameter_count, l.input_size * l.output_size)
            ELSE l.parameter_count / l.copy_count
        END AS copy_parameter_count,
    CASE WHEN l.part = 'decoder' AND NOT l.is_cross THEN l.layer_count * l.cached_size END AS cached_count,
    CASE WHEN l.is_cross AND l.key_count IS NULL THEN l.layer_count * l.cached_size END AS source_cached_count,
    l.layer_count * CASE WHEN l.is_cross THEN l.cached_size * l.key_count ELSE l.state_size END AS state_count,
    l.weight_bits
FROM l
