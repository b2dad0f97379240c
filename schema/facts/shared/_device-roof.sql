-- _device-roof: Dense peak rates by resource and device name: under the device's own name, and the name it is an alias of (device_alias).
-- grain: one name of a device and resource
-- key: name, resource
-- columns:
--   name: device name as the driver gives it
--   resource: input precision (tensor_ for tensor cores), or dram
--   device: device name in device_peak
--   flop_per_s: dense peak FLOP/s; NULL for dram
--   bytes_per_s: peak memory bandwidth; NULL unless dram
--   reference: source of the figure

-- Its own figures first, then by an alias of the user's; of those a user's first, then the one with sums in single precision, as models are
-- run.
SELECT n.name, p.resource, p.device, p.flop_per_s, p.bytes_per_s, p.reference
FROM (
    SELECT DISTINCT
        p.device AS name,
        p.device,
        0 AS place,
        '' AS doc
    FROM device_peak p
    UNION ALL
    SELECT
        a.alias,
        a.device,
        CASE a.origin WHEN 'builtin' THEN 2 ELSE 1 END,
        a.doc
    FROM device_alias a
) n
JOIN device_peak p ON p.device = n.device
QUALIFY row_number() OVER (
        PARTITION BY n.name, p.resource
        ORDER BY n.place, n.device, n.doc, p.origin = 'builtin', p.accumulate = 'fp16', p.checked_on DESC,
            p.flop_per_s DESC, p.reference
    )
        = 1
