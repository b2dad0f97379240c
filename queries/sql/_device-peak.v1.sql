-- _device-peak v1: Dense peaks of devices: a user's row in place of the built-in one for the same device, resource and sums.
-- grain: one device, resource and precision of the sums
-- key: device, resource, accumulate
-- columns:
--   device: the device's exact name
--   resource: precision of the inputs (tensor_ where tensor cores do it), or dram
--   accumulate: precision of the sums; empty for dram
--   flop_per_s: dense operations a second; NULL for dram
--   bytes_per_s: bytes a second; NULL unless dram
--   reference: where the figure is from

SELECT p.device, p.resource, p.accumulate, p.flop_per_s, p.bytes_per_s, p.reference
FROM device_peak p
QUALIFY row_number() OVER (PARTITION BY p.device, p.resource, p.accumulate ORDER BY p.origin = 'builtin', p.checked_on DESC, p.reference) = 1
