-- _device-peak: What a device can do at most in a precision, and how fast its memory is, by each name that a driver may give it: its own, else the one that it is another name of (device_alias).
-- grain: one name of a device and precision
-- key: name, precision
-- columns:
--   name: name of a device as the driver gives it
--   precision: precision that matrices are multiplied in, or dram
--   resource: row of device_peak that it means
--   flop_per_s: dense operations a second; NULL for dram
--   bytes_per_s: bytes a second; NULL unless dram
--   reference: where the figure is from

-- Its own figures first, then by an alias of the user's; of those a user's first, then the one with sums in single precision, as models are
-- run. Tensor cores do what they can.
SELECT n.name, x.precision, p.resource, p.flop_per_s, p.bytes_per_s, p.reference
FROM (
    SELECT DISTINCT p.device AS name, p.device, 0 AS place, '' AS doc FROM device_peak p
    UNION ALL
    SELECT a.alias, a.device, CASE a.origin WHEN 'builtin' THEN 2 ELSE 1 END, a.doc FROM device_alias a
) n
JOIN device_peak p ON p.device = n.device
JOIN (VALUES ('tensor_tf32', 'tf32'), ('tensor_bf16', 'bf16'), ('tensor_fp16', 'fp16'), ('tensor_fp8', 'fp8'), ('tensor_int8', 'int8'), ('tensor_fp4', 'fp4'), ('fp32', 'fp32'),
    ('tensor_fp64', 'fp64'), ('fp64', 'fp64'), ('dram', 'dram')) x(resource, precision) ON x.resource = p.resource
QUALIFY row_number() OVER (PARTITION BY n.name, x.precision ORDER BY p.resource = 'fp64', n.place, n.device, n.doc, p.origin = 'builtin', p.accumulate = 'fp16', p.checked_on DESC, p.flop_per_s DESC, p.reference) = 1
