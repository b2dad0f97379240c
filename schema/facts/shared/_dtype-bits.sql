-- _dtype-bits: Bits per number in a precision.
-- grain: one value
-- key: none
-- scalar: a small table
-- params:
--   dtype VARCHAR: fp64, fp32, tf32, bf16, fp16, fp8, int8, fp4 or int4
-- columns:
--   bits: number of bits; NULL when dtype is NULL

CASE
    WHEN dtype IS NULL THEN NULL
    WHEN dtype = 'fp64' THEN 64
    WHEN dtype IN ('fp32', 'tf32') THEN 32
    WHEN dtype IN ('bf16', 'fp16') THEN 16
    WHEN dtype IN ('fp8', 'int8') THEN 8
    WHEN dtype IN ('fp4', 'int4') THEN 4
    ELSE error('ARGUMENT: --dtype is fp64, fp32, tf32, bf16, fp16, fp8, int8, fp4 or int4')::INTEGER
END
