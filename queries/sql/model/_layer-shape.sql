-- _layer-shape: The shape of each component of a model's layers in words.
-- grain: one row of model_layer
-- key: model_id, layer_id
-- params:
--   run VARCHAR: the run
-- columns:
--   model_id: the model
--   layer_id: the row
--   shape: inputs x outputs of a matrix, with the experts that a token passes of all; heads and sizes of attention; NULL for what multiplies nothing

SELECT l.model_id, l.layer_id,
    CASE WHEN l.kind = 'attention' THEN concat(l.head_count, CASE WHEN l.kv_head_count <> l.head_count THEN concat(' over ', l.kv_head_count) ELSE '' END, ' heads of ', l.key_size,
            CASE WHEN l.value_size <> l.key_size THEN concat(' and ', l.value_size) ELSE '' END, CASE WHEN l.window_size IS NOT NULL THEN concat(', window ', l.window_size) ELSE '' END)
        WHEN l.input_size IS NOT NULL THEN concat(l.input_size, ' x ', l.output_size, CASE WHEN l.copy_count > 1 THEN concat(', ', l.active_count, ' of ', l.copy_count)
            WHEN l.active_count > 1 THEN concat(', ', l.active_count, ' times') ELSE '' END) END AS shape
FROM model_layer l
WHERE l.run_id = run
