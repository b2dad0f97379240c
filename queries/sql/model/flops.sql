-- flops v1: Floating-point operations of a model by stage, part and kind of operation, from its configuration: what model FLOPs utilisation (MFU) divides.
-- grain: one stage, part and operator
-- key: stage, part, operator
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
--   stage: prefill (of all sequences), decode (all its steps) or vision (the images of the prompt)
--   part_of: prefill for vision, whose work happens inside the prefill and is not in its rows; NULL for others
--   part: decoder, encoder, or a part of the vision tower
--   operator: projection, attention, cross attention, mlp, experts, shared experts, router, head, convolution, relative_position, mixing or recurrence
--   flop: operations, a multiply-add being 2; NULL when a number of tokens is not known
--   share_ratio: part of the stage's operations

-- Formulas and their sources: layer_cost, _prefill-pairs, _decode-pairs. For each sequence, with p tokens of prompt and d steps:
--   prefill = sum over components of token_flop p + logit_flop (1 or p) + latent_flop p + pair_flop (p^2, or sum over i = 1..p of min(i, window))
--   decode  = sum of token_flop d + logit_flop d + latent_flop (d, or sum of contexts) + pair_flop (sum over i = 1..d of min(p + i, window))
-- Where an encoder reads the prompt (T5), its p tokens all see each other under either convention, and the decoder begins with one:
--   prefill = sum of source_flop p + source_pair_flop (p^2 in the encoder, p in cross attention) + token_flop + logit_flop + pair_flop
--   decode  = sum of token_flop d + logit_flop d + source_pair_flop p d + pair_flop (sum over i = 1..d of 1 + i)
-- An encoder of audio (Whisper) adds its picture_flop to the prefill, once a sequence. Keys and values of what an encoder made are the prefill's too.
SELECT x.stage, CASE WHEN x.stage = 'vision' THEN 'prefill' END AS part_of, x.part, x.operator, x.flop, (x.flop / nullif(sum(x.flop) OVER (PARTITION BY x.stage), 0))::DOUBLE AS share_ratio
FROM (
    SELECT f.stage, f.part, f.operator, min(f.layer_id) AS place, CASE WHEN count(f.flop) = count(*) THEN sum(f.flop)::BIGINT END AS flop
    FROM _static_flop(run, model := model, prefill := prefill, decode := decode, batch := batch, images := images, crops := crops, convention := convention, mla := mla, head := head, context := context, fixed_context := fixed_context) f
    GROUP BY f.stage, f.part, f.operator
) x
ORDER BY array_position(['prefill', 'decode', 'vision'], x.stage), x.place, x.part, x.operator
