-- model-bytes v1: Bytes of a model's weights and of its cache of keys and values in each precision that they could be stored in.
-- grain: one model and precision
-- key: model, dtype
-- params:
--   run VARCHAR: the run
-- columns:
--   model: the model's number in the run
--   dtype: the precision of all weights and of the cache
--   weight_bytes: bytes of all parameters
--   kv_token_bytes: bytes that one token of the decoder keeps in the cache of keys and values, windows left out of account; NULL without a decoder
--   state_bytes: bytes that one sequence keeps however long it is: states of recurrences, last inputs of convolutions, keys and values of cross attention to audio; NULL for a model without
--   is_configured: whether the configuration says this precision
--   source_token_bytes: bytes that one token keeps that an encoder reads: keys and values of the decoder's cross attention; NULL for a model without

SELECT _id_number(m.model_id) AS model, d.dtype, m.parameter_count::DOUBLE * d.bits / 8 AS weight_bytes, m.cached_count::DOUBLE * d.bits / 8 AS kv_token_bytes, m.state_count::DOUBLE * d.bits / 8 AS state_bytes, coalesce(d.bits = _dtype_bits(m.dtype), false) AS is_configured,
    m.source_cached_count::DOUBLE * d.bits / 8 AS source_token_bytes
FROM model_size m CROSS JOIN (VALUES ('fp32', 32), ('bf16', 16), ('fp8', 8), ('fp4', 4)) d(dtype, bits)
WHERE m.run_id = run AND m.parameter_count IS NOT NULL
ORDER BY m.model_id, d.bits DESC
