-- _device-roof: The dense peak of each device by resource: a user's figure first, then the one with sums in single precision, as models are run.
-- grain: one device and resource
-- key: device, resource
-- columns:
--   device: the device's exact name
--   resource: precision of the inputs (tensor_ where tensor cores do it), or dram
--   flop_per_s: dense operations a second; NULL for dram
--   bytes_per_s: bytes a second; NULL unless dram
--   reference: where the figure is from

SELECT p.device, p.resource, p.flop_per_s, p.bytes_per_s, p.reference
FROM device_peak p
QUALIFY row_number() OVER (PARTITION BY p.device, p.resource ORDER BY p.origin = 'builtin', p.accumulate = 'fp16', p.checked_on DESC, p.flop_per_s DESC, p.reference) = 1
