-- model_size: Size of each model of a run, all layers together, and which one is the default for FLOPs: one given as a configuration, else
--     one described by the workload.
-- grain: one model
-- key: model_id
-- needs: model
-- columns:
--   model_id BIGINT: the model
--   is_counted BOOLEAN: whether it is the default model for FLOPs
--   dtype VARCHAR: precision of weights and computation; NULL when the configuration names none
--   is_unknown BOOLEAN: whether part of the configuration was not understood, so that weight bytes are unknown
--   has_latent BOOLEAN: whether it has latent attention (MLA)
--   parameter_count BIGINT: parameters, tied ones counted once; NULL for a model without layers, like all columns below
--   active_parameter_count BIGINT: parameters that multiply one decoder token; NULL without a decoder
--   embedding_parameter_count BIGINT: embedding parameters (looked up, not multiplied), part of parameter_count
--   vision_parameter_count BIGINT: vision parameters, part of parameter_count
--   plain_parameter_count BIGINT: parameters stored in the model's precision, part of parameter_count
--   packed_bytes DOUBLE: bytes of the parameters stored in another precision
--   cached_count BIGINT: numbers in the KV cache per decoder token, ignoring attention windows; NULL without a decoder
--   source_cached_count BIGINT: numbers cached per source token that the encoder reads; NULL for a model without
--   state_count BIGINT: numbers per sequence, whatever its length: recurrent states, last inputs of convolutions, keys and values for
--     audio; NULL for a model without

WITH s AS (
    SELECT
        l.model_id,
        bool_or(l.latent_flop IS NOT NULL) AS has_latent,
        sum(l.parameter_count) AS parameter_count,
        sum(l.active_parameter_count) FILTER (l.part = 'decoder') AS active_parameter_count,
        coalesce(sum(l.parameter_count) FILTER (l.kind = 'embedding'), 0) AS embedding_parameter_count,
        coalesce(sum(l.parameter_count) FILTER (l.part NOT IN ('decoder', 'encoder')), 0) AS vision_parameter_count,
        coalesce(sum(l.parameter_count) FILTER (l.weight_bits IS NULL), 0) AS plain_parameter_count,
        coalesce(sum(l.parameter_count * l.weight_bits / 8), 0) AS packed_bytes,
        CASE
            WHEN bool_or(l.part = 'decoder')
                THEN coalesce(
                    sum(l.cached_count) FILTER (
                        l.part = 'decoder' AND l.component <> 'attention over another layer''s keys'
                    ),
                    0
                )
        END AS cached_count,
        sum(l.source_cached_count) AS source_cached_count,
        sum(l.state_count) FILTER (l.part = 'decoder') AS state_count
    FROM layer_cost l
    WHERE l.run_id = $run
    GROUP BY l.model_id
)
SELECT
    m.model_id,
    row_number() OVER (ORDER BY s.kind <> 'model', m.hidden_size IS NULL, m.model_id) = 1 AS is_counted,
    m.dtype,
    m.model_id IN (
        SELECT n.model_id
        FROM model_note n
        WHERE n.run_id = $run AND n.kind = 'unknown'
    ) AS is_unknown,
    coalesce(z.has_latent, false) AS has_latent,
    z.parameter_count::BIGINT AS parameter_count,
    z.active_parameter_count::BIGINT AS active_parameter_count,
    z.embedding_parameter_count::BIGINT AS embedding_parameter_count,
    z.vision_parameter_count::BIGINT AS vision_parameter_count,
    z.plain_parameter_count::BIGINT AS plain_parameter_count,
    z.packed_bytes,
    z.cached_count::BIGINT AS cached_count,
    z.source_cached_count::BIGINT AS source_cached_count,
    z.state_count::BIGINT AS state_count
FROM model m
JOIN source s ON s.run_id = m.run_id AND s.source_id = m.source_id
LEFT JOIN s z ON z.model_id = m.model_id
WHERE m.run_id = $run
