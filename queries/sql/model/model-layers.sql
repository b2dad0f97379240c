-- model-layers v1: The components of a run's models by group of equal layers, with shapes and parameters.
-- grain: one component of a group of layers of a model
-- key: model, layer
-- params:
--   run VARCHAR: the run
--   model BIGINT = NULL: only this model
-- columns:
--   model: the model's number in the run
--   layer: place of the row in the model
--   part: decoder, encoder, or another part: sam, clip, siglip, vit, ... of the vision tower, projector, text
--   view: picture that a vision part sees: image, global or crop
--   layer_group: which layers
--   layer_count: how many layers the group has
--   component: name within the layer
--   kind: linear, convolution, relative_position, mixing, attention, recurrence, embedding, norm or parameter
--   shape: inputs x outputs of a matrix, with the experts that a token passes of all; heads and sizes of attention
--   window_size: attention: tokens that a token sees; NULL for all
--   position_count: vision: rows multiplied for one picture; audio: for one sequence
--   parameter_count: parameters in all layers of the group; 0 where they are another row's (tied embeddings, a second view)

SELECT _id_number(l.model_id) AS model, l.layer_id AS layer, l.part, l.view, l.layer_group, l.layer_count, l.component, l.kind, l.shape, l.window_size, l.position_count, l.parameter_count
FROM layer_cost l
WHERE l.run_id = run AND (model IS NULL OR _id_number(l.model_id) = _id_number(model))
ORDER BY l.model_id, l.layer_id
