-- _layer-weight: Parameters of each component of a model's layers, the bytes of them that a forward pass reads, and the bytes that a token of the context keeps in the cache of keys and values.
-- grain: one row of model_layer
-- key: model_id, layer_id
-- params:
--   run VARCHAR: the run
--   dtype VARCHAR = NULL: precision of all weights and of the cache; by default as the configuration says, quantised weights as their method stores them
--   fallback VARCHAR = NULL: precision where the configuration says none
-- columns:
--   model_id: the model
--   layer_id: the row
--   part: decoder, or a part of the vision tower
--   kind: linear, convolution, relative_position, attention, embedding, norm or parameter
--   scope: what is multiplied
--   window_size: attention: tokens that a token sees; NULL for all
--   copy_count: matrices of a layer: 1, or the experts
--   active_count: those that one token passes
--   parameter_count: parameters in all layers of the group; 0 where they are another row's
--   active_parameter_count: of them the weights that one token is multiplied with, a tied head's too: no embeddings, norms, biases, nor experts not chosen
--   stored_bytes: bytes that the parameters take; NULL when the precision is not known
--   copy_bytes: bytes that are read for one of copy_count in all layers; of an embedding those of one row; NULL likewise
--   kv_bytes: attention: bytes that one token of the context keeps, in all layers of the group; NULL likewise

WITH named AS ( -- by itself: a macro repeats what it is given
    SELECT m.model_id, coalesce(dtype, m.dtype, fallback) AS name FROM model m WHERE m.run_id = run
), m AS (
    SELECT m.model_id, (SELECT _dtype_bits(n.name) FROM named n WHERE n.model_id = m.model_id) / 8.0::DOUBLE AS plain_bytes,
        dtype IS NULL AND EXISTS (SELECT 1 FROM model_note n WHERE n.run_id = m.run_id AND n.model_id = m.model_id AND n.kind = 'unknown') AS is_unknown
    FROM model m WHERE m.run_id = run
), l AS (
    SELECT l.model_id, l.layer_id, l.part, l.view, l.kind, l.scope, l.window_size, l.layer_count, coalesce(l.copy_count, 1) AS copies, coalesce(l.active_count, 1) AS active,
        l.input_size, l.output_size, l.parameter_count, m.plain_bytes, CASE WHEN m.is_unknown THEN NULL WHEN dtype IS NULL THEN coalesce(l.weight_bits / 8, m.plain_bytes) ELSE m.plain_bytes END AS bytes,
        CASE WHEN l.kind = 'attention' THEN CASE WHEN l.latent_size IS NULL THEN l.kv_head_count * (l.key_size + l.value_size) ELSE l.latent_size + coalesce(l.rope_size, 0) END END AS kv_size
    FROM model_layer l JOIN m ON m.model_id = l.model_id
    WHERE l.run_id = run
)
SELECT l.model_id, l.layer_id, l.part, l.kind, l.scope, l.window_size, l.copies AS copy_count, l.active AS active_count,
    (l.parameter_count * l.layer_count)::BIGINT AS parameter_count,
    CASE WHEN l.kind IN ('linear', 'convolution') AND coalesce(l.view, '') <> 'crop' THEN l.input_size::HUGEINT * l.output_size * least(l.active, l.copies) * l.layer_count ELSE 0 END::BIGINT AS active_parameter_count,
    l.parameter_count * l.layer_count * l.bytes AS stored_bytes,
    l.layer_count * l.bytes * CASE WHEN l.kind = 'embedding' THEN l.output_size WHEN l.scope = 'logit' THEN greatest(l.parameter_count, l.input_size * l.output_size)
        ELSE l.parameter_count / l.copies END AS copy_bytes,
    l.layer_count * l.plain_bytes * l.kv_size AS kv_bytes
FROM l
