-- layer-flops v1: Floating-point operations of a model by stage, group of equal layers and component, with the components' shapes.
-- grain: one stage and component of a group of layers
-- key: stage, layer
-- notes: model
-- params:
--   run VARCHAR: the run
--   model BIGINT = NULL: model_id; by default a model given as a configuration of its own, else one from the facts of the workload
--   prefill BIGINT = NULL: tokens of each prompt, image tokens included, which of a model like T5 are its encoder's; by default those of the workload
--   decode BIGINT = NULL: steps after it, the first with prefill + 1 tokens in its context, or 2 of a decoder whose encoder reads the prompt; by default those of the workload
--   batch BIGINT = NULL: sequences; by default those of the workload, else 1
--   images BIGINT = NULL: images of each prompt; by default those of the workload, else 0
--   crops BIGINT = NULL: crops of each image; by default those of the workload, else 0
--   convention VARCHAR = 'full': attention of the prompt: full (all queries with all keys, as PyTorch and PaLM count) or causal (what a token may see)
--   mla VARCHAR = 'expanded': latent attention in decode: expanded (keys and values of the whole context are made anew at each step, as transformers does) or absorbed (as serving engines do)
--   head VARCHAR = 'last': positions of the prompt whose logits are computed: last or all
--   context VARCHAR = 'auto': context of decode: auto (as it grows), max (what the model was made for) or fixed
--   fixed_context BIGINT = NULL: the context for fixed
-- columns:
--   stage: prefill (of all sequences, with the encoder and the keys and values made of its output), decode (all its steps) or vision (the images of the prompt, inside the prefill)
--   layer: place of the row in the model
--   part: decoder, encoder, or a part of the vision tower
--   view: picture that a vision part sees: image, global or crop
--   layer_group: which layers
--   layer_count: how many layers the group has
--   component: name within the layer
--   operator: what it is for
--   shape: inputs x outputs of a matrix, with the experts that a token passes of all; heads and sizes of attention
--   flop: operations in all layers of the group, a multiply-add being 2; NULL when a number of tokens is not known
--   share_ratio: part of the stage's operations
--   parameter_count: parameters in all layers of the group; 0 where they are another row's

SELECT f.stage, f.layer_id AS layer, f.part, f.view, f.layer_group, f.layer_count, f.component, f.operator, f.shape, f.flop, (f.flop / nullif(sum(f.flop) OVER (PARTITION BY f.stage), 0))::DOUBLE AS share_ratio, f.parameter_count
FROM _static_flop(run, model := model, prefill := prefill, decode := decode, batch := batch, images := images, crops := crops, convention := convention, mla := mla, head := head, context := context, fixed_context := fixed_context) f
ORDER BY array_position(['prefill', 'decode', 'vision'], f.stage), f.layer_id
