-- ceilings v1: What the devices that Nsight Compute profiled on can do at most: measured where ncu gives peaks, and from the table of dense peaks.
-- grain: one device, resource and basis
-- key: device, resource, basis
-- notes: ncu
-- params:
--   run VARCHAR: the run
-- columns:
--   device: the device's name
--   resource: precision (tensor_ where tensor cores do it), or dram
--   basis: measured (peak per cycle times the clock a launch ran at, the highest over the launches) or device_peak (the table of dense peaks)
--   peak_flop_per_s: operations a second, a multiply-add being 2; NULL for dram
--   peak_bytes_per_s: bytes a second; NULL unless dram
--   launches: profiled launches it was measured in; NULL for device_peak
--   evidence: the metric, or where the figure is from

WITH d AS (
    SELECT DISTINCT l.launch_id, dev.name AS device
    FROM ncu_launch l JOIN device dev ON dev.run_id = l.run_id AND dev.source_id = l.source_id AND dev.device_id = l.device_id
    WHERE l.run_id = run AND l.kind = 'kernel'
), m AS (
    SELECT coalesce(d.device, '(unknown)') AS device, f.resource, max(f.peak_flop_per_s) AS flop_per_s, NULL::DOUBLE AS bytes_per_s, count(*) AS launches, min(f.peak_metric) AS evidence
    FROM _ncu_flop(run) f LEFT JOIN d ON d.launch_id = f.launch_id
    WHERE f.peak_flop_per_s IS NOT NULL GROUP BY ALL
    UNION ALL
    SELECT coalesce(d.device, '(unknown)'), 'dram', NULL, max(l.dram_peak_bytes_per_s), count(*), 'dram__bytes.sum.peak_sustained'
    FROM _ncu_launch(run) l LEFT JOIN d ON d.launch_id = l.launch_id
    WHERE l.dram_peak_bytes_per_s IS NOT NULL GROUP BY ALL
), p AS (
    SELECT dp.device, dp.resource, dp.flop_per_s, dp.bytes_per_s, dp.reference AS evidence FROM _device_roof dp WHERE dp.device IN (SELECT d.device FROM d)
)
SELECT m.device, m.resource, 'measured' AS basis, m.flop_per_s AS peak_flop_per_s, m.bytes_per_s AS peak_bytes_per_s, m.launches, m.evidence FROM m
UNION ALL
SELECT p.device, p.resource, 'device_peak', p.flop_per_s, p.bytes_per_s, NULL, p.evidence FROM p
ORDER BY 1, 2, 3 DESC
