-- _peak-name: Name of a device in device_peak: its own, else the name it is an alias of (device_alias), a user's alias first.
-- grain: one name of a device and resource
-- key: name, resource
-- columns:
--   name: device name as the driver gives it
--   resource: precision (tensor_ for tensor cores), or dram
--   device: device name in device_peak
--   alias_doc: why the alias is equivalent; NULL for its own name

WITH p AS (
    SELECT DISTINCT p.device, p.resource
    FROM device_peak p
)
SELECT
    p.device AS name,
    p.resource,
    p.device,
    NULL::VARCHAR AS alias_doc
FROM p
UNION ALL
SELECT a.alias, p.resource, p.device, a.doc
FROM device_alias a JOIN p ON p.device = a.device
WHERE NOT EXISTS (SELECT 1 FROM p own WHERE own.device = a.alias AND own.resource = p.resource)
QUALIFY row_number() OVER (PARTITION BY a.alias, p.resource ORDER BY a.origin = 'builtin', p.device, a.doc) = 1
