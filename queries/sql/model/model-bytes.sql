-- model-bytes v1: Size of a model's weights and KV cache in each precision they could be stored in.
-- grain: one model and precision
-- key: model, dtype
-- params:
--   run VARCHAR: the run
-- columns:
--   model: model number in the run
--   dtype: precision of all weights and of the KV cache
--   weight_bytes: size of all parameters
--   kv_token_bytes: KV cache bytes per decoder token, ignoring attention windows; NULL without a decoder
--   state_bytes: bytes per sequence, whatever its length: recurrent states, last inputs of convolutions, cross-attention keys and values
--     for audio; NULL for a model without
--   is_configured: whether the configuration names this precision
--   source_token_bytes: bytes per encoder token: keys and values of the decoder's cross attention; NULL for a model without

SELECT
    _id_number(m.model_id) AS model,
    d.dtype,
    m.parameter_count::DOUBLE * d.bits / 8 AS weight_bytes,
    m.cached_count::DOUBLE * d.bits / 8 AS kv_token_bytes,
    m.state_count::DOUBLE * d.bits / 8 AS state_bytes,
    coalesce(d.bits = _dtype_bits(m.dtype), false) AS is_configured,
    m.source_cached_count::DOUBLE * d.bits / 8 AS source_token_bytes
FROM model_size m
CROSS JOIN (VALUES ('fp32', 32), ('bf16', 16), ('fp8', 8), ('fp4', 4)) d(dtype, bits)
WHERE m.run_id = run AND m.parameter_count IS NOT NULL
ORDER BY m.model_id, d.bits DESC
