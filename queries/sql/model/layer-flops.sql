-- layer-flops v1: Model FLOPs by stage, group of equal layers and component, with component shapes.
-- grain: one stage, group of layers and component
-- key: stage, layer
-- notes: model
-- params:
--   run VARCHAR: the run
--   model BIGINT = NULL: model_id; default: a model given as a configuration, else the one described by the workload
--   prefill BIGINT = NULL: tokens per prompt, image tokens included; for an encoder-decoder model such as T5, tokens the encoder reads;
--     default: those of the workload
--   decode BIGINT = NULL: decode steps after the prompt, the first with prefill + 1 tokens in its context (2 for a decoder whose encoder
--     reads the prompt); default: those of the workload
--   batch BIGINT = NULL: sequences; default: those of the workload, else 1
--   images BIGINT = NULL: images per prompt; default: those of the workload, else 0
--   crops BIGINT = NULL: crops per image; default: those of the workload, else 0
--   convention VARCHAR = 'full': prompt attention counted as full (all query-key pairs, as PyTorch and PaLM do) or causal (only pairs the
--     mask allows)
--   mla VARCHAR = 'expanded': latent attention in decode: expanded (keys and values of the whole context are recomputed each step, as in
--     transformers) or absorbed (as in serving engines)
--   head VARCHAR = 'last': prompt positions whose logits are computed: last or all
--   context VARCHAR = 'auto': context length in decode: auto (as it grows), max (the model's maximum) or fixed
--   fixed_context BIGINT = NULL: context length for context fixed
-- columns:
--   stage: prefill (all sequences, with the encoder and the cross-attention keys and values made of its output), decode (all steps) or
--     vision (all images of the prompt, inside the prefill)
--   layer: row of the component in the model
--   part: decoder, encoder, or a part of the vision tower
--   view: image that a vision part processes: image, global or crop
--   layer_group: the layers in the group
--   layer_count: layers in the group
--   component: component name within the layer
--   operator: kind of operation
--   shape: inputs x outputs of a matrix, with active and total experts; heads and their sizes for attention
--   flop: floating-point operations in all layers of the group, a multiply-add counts 2; NULL when a token count is unknown
--   share_ratio: share of the stage's operations
--   parameter_count: parameters in all layers of the group; 0 when another row counts them

SELECT
    f.stage,
    f.layer_id AS layer,
    f.part,
    f.view,
    f.layer_group,
    f.layer_count,
    f.component,
    f.operator,
    f.shape,
    f.flop,
    (f.flop / nullif(sum(f.flop) OVER (PARTITION BY f.stage), 0))::DOUBLE AS share_ratio,
    f.parameter_count
FROM _static_flop(
    run, model := model, prefill := prefill, decode := decode, batch := batch, images := images, crops := crops,
    convention := convention, mla := mla, head := head, context := context, fixed_context := fixed_context
) f
ORDER BY array_position(['prefill', 'decode', 'vision'], f.stage), f.layer_id
