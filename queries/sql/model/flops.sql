-- flops v1: Model FLOPs by stage, part and kind of operation, from the model's configuration: the FLOP count of model FLOPs utilisation
--     (MFU).
-- grain: one stage, part and operator
-- key: stage, part, operator
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
--   stage: prefill (all sequences), decode (all steps) or vision (all images of the prompt)
--   part_of: prefill for vision, whose work runs inside the prefill but is not in its rows; NULL for others
--   part: decoder, encoder, or a part of the vision tower
--   operator: projection, attention, cross attention, mlp, experts, shared experts, router, head, convolution, relative_position, mixing or
--     recurrence
--   flop: floating-point operations, a multiply-add counts 2; NULL when a token count is unknown
--   share_ratio: share of the stage's operations

-- Formulas and their sources: layer_cost, _prefill-pairs, _decode-pairs. For each sequence, with p tokens of prompt and d steps: prefill =
-- sum over components of token_flop p + logit_flop (1 or p) + latent_flop p + pair_flop (p^2, or sum over i = 1..p of min(i, window))
-- decode  = sum of token_flop d + logit_flop d + latent_flop (d, or sum of contexts) + pair_flop (sum over i = 1..d of min(p + i, window))
-- Where an encoder reads the prompt (T5), its p tokens all see each other under either convention, and the decoder begins with one: prefill
-- = sum of source_flop p + source_pair_flop (p^2 in the encoder, p in cross attention) + token_flop + logit_flop + pair_flop decode  = sum
-- of token_flop d + logit_flop d + source_pair_flop p d + pair_flop (sum over i = 1..d of 1 + i) An encoder of audio (Whisper) adds its
-- picture_flop to the prefill, once a sequence. Keys and values of what an encoder made are the prefill's too.
SELECT
    x.stage,
    CASE WHEN x.stage = 'vision' THEN 'prefill' END AS part_of,
    x.part,
    x.operator,
    x.flop,
    (x.flop / nullif(sum(x.flop) OVER (PARTITION BY x.stage), 0))::DOUBLE AS share_ratio
FROM (
    SELECT
        f.stage,
        f.part,
        f.operator,
        min(f.layer_id) AS place,
        CASE WHEN count(f.flop) = count(*) THEN sum(f.flop)::BIGINT END AS flop
    FROM _static_flop(
        run, model := model, prefill := prefill, decode := decode, batch := batch, images := images, crops := crops,
        convention := convention, mla := mla, head := head, context := context, fixed_context := fixed_context
    ) f
    GROUP BY f.stage, f.part, f.operator
) x
ORDER BY array_position(['prefill', 'decode', 'vision'], x.stage), x.place, x.part, x.operator
