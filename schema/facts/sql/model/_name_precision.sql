-- _name_precision: The number format in a kernel's name: bf16, sgemm, tf32, e4m3, ..., and whether tensor cores can have multiplied.
-- grain: one kernel name
-- key: kernel_name_id
-- needs: kernel_name
-- columns:
--   kernel_name_id BIGINT: the kernel
--   precision VARCHAR: fp8, tf32, bf16, fp16 or fp32; NULL where the name has none
--   is_plain BOOLEAN: whether it multiplies in FP32 outside tensor cores, whatever its inputs are: cuDNN has convolutions of BF16 and FP16
--     for that, whose names have sgemm too. SGLang's sgemm_lora is about segments

SELECT
    n.kernel_name_id,
    CASE
        WHEN regexp_matches(n.name, 'e4m3|e5m2|fp8|float8') THEN 'fp8'
        WHEN contains(n.name, 'tf32') THEN 'tf32'
        WHEN regexp_matches(n.name, 'bf16|__nv_bfloat16|BFloat16|bfloat16') THEN 'bf16'
        WHEN regexp_matches(n.name, '__half|c10::Half|f16f16|fp16|hgemm|half_t|f16_s') THEN 'fp16'
        WHEN contains(n.name, 'sgemm') AND NOT contains(n.name, 'sgemm_lora') OR contains(n.name, 'f32f32_f32') THEN 'fp32'
    END AS precision,
    coalesce(precision NOT IN ('fp8', 'tf32'), true)
        AND (contains(n.name, 'sgemm') AND NOT contains(n.name, 'sgemm_lora') OR precision = 'fp32') AS is_plain
FROM kernel_name n
WHERE n.run_id = $run
