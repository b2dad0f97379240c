-- models v1: The models of a run with parameters and bytes, from their configurations.
-- grain: one model
-- key: model
-- params:
--   run VARCHAR: the run
--   dtype VARCHAR = NULL: precision of all weights and of the KV cache; default: as the configuration says, quantised weights as their
--     method stores them
-- columns:
--   model: model number in the run
--   name: model name
--   family: model_type in the configuration
--   architecture: model class; NULL when the configuration names none
--   dtype: precision of weights and computation; NULL when the configuration names none
--   parameter_count: parameters, tied ones counted once
--   active_parameter_count: parameters that multiply one decoder token, head included; excludes embeddings, norms, biases and inactive
--     experts. Twice that is the FLOP per token without attention. NULL without a decoder
--   embedding_parameter_count: embedding parameters (looked up, not multiplied), part of parameter_count
--   vision_parameter_count: vision parameters, part of parameter_count
--   weight_bytes: size of all parameters; NULL when the precision is unknown
--   kv_token_bytes: KV cache bytes per decoder token, ignoring attention windows; NULL when the precision is unknown, or without a decoder
--   source_token_bytes: bytes per encoder token: keys and values of the decoder's cross attention; NULL when the precision is unknown, or
--     for a model without
--   state_bytes: bytes per sequence, whatever its length: recurrent states, last inputs of convolutions, cross-attention keys and values
--     for audio, in the same precision; NULL when the precision is unknown, or for a model without
--   hidden_size: width of the decoder
--   layer_count: number of decoder layers
--   vocab_size: vocabulary size
--   max_context_count: maximum context length
--   image_token_count: prompt tokens per image, crops excluded
--   is_counted: whether it is the default model for FLOPs
--   source_id: the source

WITH m AS (
    SELECT
        m.model_id,
        coalesce(dtype, m.dtype) AS dtype,
        s.parameter_count,
        s.active_parameter_count,
        s.embedding_parameter_count,
        s.vision_parameter_count,
        s.plain_parameter_count,
        s.packed_bytes,
        s.cached_count,
        s.source_cached_count,
        s.state_count,
        s.is_unknown,
        s.is_counted,
        _dtype_bits(coalesce(dtype, m.dtype)) / 8.0::DOUBLE AS bytes,
        m.name,
        m.family,
        m.architecture,
        m.hidden_size,
        m.layer_count,
        m.vocab_size,
        m.max_context_count,
        m.image_token_count,
        m.source_id
    FROM model m JOIN model_size s ON s.run_id = m.run_id AND s.model_id = m.model_id
    WHERE m.run_id = run
)
SELECT
    _id_number(m.model_id) AS model,
    m.name,
    m.family,
    m.architecture,
    m.dtype,
    m.parameter_count,
    m.active_parameter_count,
    m.embedding_parameter_count,
    m.vision_parameter_count,
    CASE
        WHEN dtype IS NOT NULL THEN m.parameter_count * m.bytes
        WHEN NOT m.is_unknown THEN m.plain_parameter_count * m.bytes + m.packed_bytes
    END::BIGINT AS weight_bytes,
    (m.cached_count * m.bytes)::BIGINT AS kv_token_bytes,
    (m.source_cached_count * m.bytes)::BIGINT AS source_token_bytes,
    (m.state_count * m.bytes)::BIGINT AS state_bytes,
    m.hidden_size,
    m.layer_count,
    m.vocab_size,
    m.max_context_count,
    m.image_token_count,
    m.is_counted,
    m.source_id
FROM m
ORDER BY m.model_id
