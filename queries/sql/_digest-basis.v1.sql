-- _digest-basis v1: The rules that runs are classified by, and the peaks of devices: what digests follow from beside the run itself and their queries.
-- grain: one value
-- key: none
-- columns:
--   basis: a hash of them

SELECT md5(concat_ws(chr(10), (SELECT v.checksum FROM schema_version v WHERE v.version = -1), string_agg(t.line, chr(10) ORDER BY t.line))) AS basis
FROM (
    SELECT concat_ws(chr(9), 'peak', p.origin, p.device, p.resource, p.accumulate, p.flop_per_s, p.bytes_per_s) AS line FROM device_peak p
    UNION ALL
    SELECT concat_ws(chr(9), 'alias', a.origin, a.alias, a.device) FROM device_alias a
    UNION ALL
    SELECT concat_ws(chr(9), 'rate', s.origin, s.compute_capability, s.device, s.resource, s.accumulate, s.flop_per_cycle) FROM sm_rate s
) t
