-- ceilings v1: Peak rates of the devices that Nsight Compute profiled: measured where ncu reports peaks, and from the table of dense peaks.
-- grain: one device, resource and basis
-- key: device, resource, basis
-- notes: ncu
-- params:
--   run VARCHAR: the run
-- columns:
--   device: device name
--   resource: precision (tensor_ for tensor cores), or dram
--   basis: measured (peak per cycle x SM clock of the launch, the highest over the launches) or device_peak (the table of dense peaks)
--   peak_flop_per_s: peak FLOP/s, a multiply-add counts 2; NULL for dram
--   peak_bytes_per_s: peak memory bandwidth; NULL unless dram
--   launches: profiled launches behind the measured peak; NULL for device_peak
--   evidence: the metric, or the source of the figure

WITH l AS (
    SELECT l.launch_id, l.device, l.dram_peak_bytes_per_s
    FROM ncu_measure l
    WHERE l.run_id = run
)
SELECT
    coalesce(l.device, '(unknown)') AS device,
    f.resource,
    'measured' AS basis,
    max(f.peak_flop_per_s) AS peak_flop_per_s,
    NULL::DOUBLE AS peak_bytes_per_s,
    count(*) AS launches,
    min(f.peak_metric) AS evidence
FROM ncu_flop f LEFT JOIN l ON l.launch_id = f.launch_id
WHERE f.run_id = run AND f.peak_flop_per_s IS NOT NULL
GROUP BY ALL
UNION ALL
SELECT
    coalesce(l.device, '(unknown)'),
    'dram',
    'measured',
    NULL,
    max(l.dram_peak_bytes_per_s),
    count(*),
    'dram__bytes.sum.peak_sustained'
FROM l
WHERE l.dram_peak_bytes_per_s IS NOT NULL
GROUP BY ALL
UNION ALL
SELECT p.name, p.resource, 'device_peak', p.flop_per_s, p.bytes_per_s, NULL, p.reference
FROM _device_roof p
WHERE p.name IN (SELECT l.device FROM l)
ORDER BY 1, 2, 3 DESC
