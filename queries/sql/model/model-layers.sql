-- model-layers v1: The components of a run's models by group of equal layers, with shapes and parameters.
-- grain: one model, group of layers and component
-- key: model, layer
-- params:
--   run VARCHAR: the run
--   model BIGINT = NULL: only this model
-- columns:
--   model: model number in the run
--   layer: row of the component in the model
--   part: decoder, encoder, or another part: sam, clip, siglip, vit, ... of the vision tower, projector, text
--   view: image that a vision part processes: image, global or crop
--   layer_group: the layers in the group
--   layer_count: layers in the group
--   component: component name within the layer
--   kind: linear, convolution, relative_position, mixing, attention, recurrence, embedding, norm or parameter
--   shape: inputs x outputs of a matrix, with active and total experts; heads and their sizes for attention
--   window_size: attention: tokens that one token attends to; NULL for all
--   position_count: vision: rows multiplied per image; audio: rows multiplied per sequence
--   parameter_count: parameters in all layers of the group; 0 when another row counts them (tied embeddings, a second view)

SELECT
    _id_number(l.model_id) AS model,
    l.layer_id AS layer,
    l.part,
    l.view,
    l.layer_group,
    l.layer_count,
    l.component,
    l.kind,
    l.shape,
    l.window_size,
    l.position_count,
    l.parameter_count
FROM layer_cost l
WHERE l.run_id = run AND (model IS NULL OR _id_number(l.model_id) = _id_number(model))
ORDER BY l.model_id, l.layer_id
