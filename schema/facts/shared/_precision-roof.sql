-- _precision-roof: Dense peak of each device by precision of matrix products: of tensor cores where they have it, else of the other cores.
-- grain: one name of a device and precision
-- key: name, precision
-- columns:
--   name: device name as the driver gives it
--   precision: fp64, fp32, tf32, bf16, fp16, fp8, int8 or fp4
--   flop_per_s: dense peak FLOP/s

SELECT
    r.name,
    replace(r.resource, 'tensor_', '') AS precision,
    arg_max(r.flop_per_s, r.resource) AS flop_per_s -- tensor_fp64 before fp64
FROM _device_roof r
WHERE starts_with(r.resource, 'tensor_') OR r.resource IN ('fp32', 'fp64')
GROUP BY r.name, precision
