-- models v1: The models of a run with their parameters and bytes, by their configurations.
-- grain: one model
-- key: model
-- params:
--   run VARCHAR: the run
--   dtype VARCHAR = NULL: precision of all weights and of the cache; by default as the configuration says, quantised weights as their method stores them
-- columns:
--   model: the model's number in the run
--   name: its name
--   family: model_type of the configuration
--   architecture: class of the model; NULL when not said
--   dtype: precision of weights and computation; NULL when not said
--   parameter_count: parameters, tied ones once
--   active_parameter_count: weights that one token of the decoder is multiplied with, head included: no embeddings, norms, biases, nor experts not chosen. Twice that is a token's FLOP without attention. NULL without a decoder
--   embedding_parameter_count: of parameter_count those of tables that are looked up
--   vision_parameter_count: of parameter_count those of the vision parts
--   weight_bytes: bytes of all parameters; NULL when the precision is not known
--   kv_token_bytes: bytes that one token of the decoder keeps in the cache of keys and values, windows left out of account; NULL likewise, or without a decoder
--   source_token_bytes: bytes that one token keeps that an encoder reads: keys and values of the decoder's cross attention; NULL likewise, or for a model without
--   state_bytes: bytes that one sequence keeps however long it is: states of recurrences, last inputs of convolutions, keys and values of cross attention to audio, in the same precision; NULL likewise, or for a model without
--   hidden_size: width of the decoder
--   layer_count: layers of the decoder
--   vocab_size: entries of the vocabulary
--   max_context_count: positions the model was made for
--   image_token_count: positions of the prompt that one image takes, crops left out
--   is_counted: whether FLOPs are counted of it where no model is asked for
--   source_id: the source

WITH m AS (
    SELECT m.model_id, coalesce(dtype, m.dtype) AS dtype, s.parameter_count, s.active_parameter_count, s.embedding_parameter_count, s.vision_parameter_count, s.plain_parameter_count, s.packed_bytes, s.cached_count, s.source_cached_count, s.state_count,
        s.is_unknown, s.is_counted, _dtype_bits(coalesce(dtype, m.dtype)) / 8.0::DOUBLE AS bytes,
        m.name, m.family, m.architecture, m.hidden_size, m.layer_count, m.vocab_size, m.max_context_count, m.image_token_count, m.source_id
    FROM model m JOIN model_size s ON s.run_id = m.run_id AND s.model_id = m.model_id
    WHERE m.run_id = run
)
SELECT _id_number(m.model_id) AS model, m.name, m.family, m.architecture, m.dtype, m.parameter_count, m.active_parameter_count, m.embedding_parameter_count, m.vision_parameter_count,
    CASE WHEN dtype IS NOT NULL THEN m.parameter_count * m.bytes WHEN NOT m.is_unknown THEN m.plain_parameter_count * m.bytes + m.packed_bytes END::BIGINT AS weight_bytes, (m.cached_count * m.bytes)::BIGINT AS kv_token_bytes, (m.source_cached_count * m.bytes)::BIGINT AS source_token_bytes, (m.state_count * m.bytes)::BIGINT AS state_bytes,
    m.hidden_size, m.layer_count, m.vocab_size, m.max_context_count, m.image_token_count, m.is_counted, m.source_id
FROM m
ORDER BY m.model_id
