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
--   kv_token_bytes: bytes that one token keeps in the cache of keys and values, windows left out of account; NULL likewise, or without a decoder
--   hidden_size: width of the decoder
--   layer_count: layers of the decoder
--   vocab_size: entries of the vocabulary
--   max_context_count: positions the model was made for
--   image_token_count: positions of the prompt that one image takes, crops left out
--   is_counted: whether FLOPs are counted of it where no model is asked for
--   source_id: the source

WITH sums AS (
    SELECT w.model_id, sum(w.parameter_count)::BIGINT AS parameter_count, sum(w.active_parameter_count) FILTER (w.part = 'decoder')::BIGINT AS active_count,
        coalesce(sum(w.parameter_count) FILTER (w.kind = 'embedding'), 0)::BIGINT AS embedding_count, coalesce(sum(w.parameter_count) FILTER (w.part <> 'decoder'), 0)::BIGINT AS vision_count,
        CASE WHEN count(w.stored_bytes) = count(*) THEN sum(w.stored_bytes) END AS weight_bytes, sum(w.kv_bytes) FILTER (w.part = 'decoder') AS kv_bytes
    FROM _layer_weight(run, dtype := dtype) w
    GROUP BY ALL
)
SELECT _id_number(m.model_id) AS model, m.name, m.family, m.architecture, coalesce(dtype, m.dtype) AS dtype, s.parameter_count, s.active_count AS active_parameter_count,
    s.embedding_count AS embedding_parameter_count, s.vision_count AS vision_parameter_count, s.weight_bytes::BIGINT AS weight_bytes, s.kv_bytes::BIGINT AS kv_token_bytes,
    m.hidden_size, m.layer_count, m.vocab_size, m.max_context_count, m.image_token_count, coalesce(m.model_id = _model_id(run, NULL), false) AS is_counted, m.source_id
FROM model m LEFT JOIN sums s ON s.model_id = m.model_id
WHERE m.run_id = run
ORDER BY m.model_id
