-- model-bytes v1: Bytes of a model's weights and of its cache of keys and values in each precision that they could be stored in.
-- grain: one model and precision
-- key: model, dtype
-- params:
--   run VARCHAR: the run
-- columns:
--   model: the model's number in the run
--   dtype: the precision of all weights and of the cache
--   weight_bytes: bytes of all parameters
--   kv_token_bytes: bytes that one token keeps in the cache of keys and values, windows left out of account; NULL without a decoder
--   is_configured: whether the configuration says this precision

-- Numbers of 8 bits take a byte each: their bytes are counts.
WITH n AS (
    SELECT w.model_id, sum(w.stored_bytes) AS parameters, sum(w.kv_bytes) FILTER (w.part = 'decoder') AS kept FROM _layer_weight(run, dtype := 'int8') w GROUP BY ALL
), d AS (
    SELECT t.dtype, _dtype_bits(t.dtype) AS bits FROM (SELECT unnest(['fp32', 'bf16', 'fp8', 'fp4']) AS dtype) t
)
SELECT _id_number(m.model_id) AS model, d.dtype, n.parameters * d.bits / 8 AS weight_bytes, n.kept * d.bits / 8 AS kv_token_bytes,
    coalesce(d.bits = _dtype_bits(m.dtype), false) AS is_configured
FROM model m JOIN n ON n.model_id = m.model_id CROSS JOIN d
WHERE m.run_id = run
ORDER BY m.model_id, d.bits DESC
