-- capture_doubt: GPUs of the workload that were held back for want of power or cooling, or that others computed on too, while a timeline was captured.
-- grain: one GPU
-- key: device_id
-- needs: device_sample
-- columns:
--   device_id INTEGER: NVML's number of the GPU
--   busy_count BIGINT: samples in which it was at work; NULL when NVML did not tell sm_ratio at all in one of the passes
--   slowed_count BIGINT: those of them, or of all samples where they are not known, in which it was held back
--   reasons VARCHAR: why
--   shared_count BIGINT: samples of all in which others computed on it
--   sample_count BIGINT: samples

-- Which GPUs are the workload's is known by the UUIDs of those that its kernels ran on; others that computed there count whatever the utilisation, for
-- short kernels may fall between samples. Where UUIDs tell none, all that were at work may be its, and those of which NVML does not tell that.
WITH used AS (
    SELECT DISTINCT c.device_id
    FROM (SELECT DISTINCT k.source_id, k.device_id FROM kernel k WHERE k.run_id = $run) k
    JOIN device d ON d.run_id = $run AND d.source_id = k.source_id AND d.device_id = k.device_id
    JOIN capture_device c ON c.run_id = d.run_id AND replace(c.uuid, 'GPU-', '') = replace(d.uuid, 'GPU-', '')
), s AS (
    SELECT d.pass_id, d.device_id, d.throttle_mask, d.other_process_count, d.sm_ratio
    FROM device_sample d JOIN capture_pass p ON p.run_id = d.run_id AND p.pass_id = d.pass_id
    WHERE d.run_id = $run AND p.tool IN ('nsys', 'torch') AND (d.device_id IN (SELECT u.device_id FROM used u) OR NOT EXISTS (SELECT 1 FROM used))
), silent AS (
    SELECT DISTINCT x.device_id FROM (SELECT s.pass_id, s.device_id FROM s GROUP BY s.pass_id, s.device_id HAVING count(s.sm_ratio) = 0) x
), v AS (
    SELECT s.device_id, s.throttle_mask, s.other_process_count, n.device_id IS NULL AS is_told, CASE WHEN n.device_id IS NULL THEN coalesce(s.sm_ratio > 0, false) ELSE true END AS is_counted
    FROM s LEFT JOIN silent n ON n.device_id = s.device_id
), mask AS (
    SELECT bit_or(1::BIGINT << r.bit_count) AS slow FROM _throttle_reason r WHERE r.is_slowdown
), x AS (
    SELECT v.device_id, CASE WHEN bool_and(v.is_told) THEN count(*) FILTER (v.is_counted) END AS busy_count, count(*) FILTER (v.is_counted AND v.throttle_mask & mask.slow <> 0) AS slowed_count,
        bit_or(v.throttle_mask & mask.slow) FILTER (v.is_counted) AS seen, count(*) FILTER (v.other_process_count > 0) AS shared_count, count(*) AS sample_count
    FROM v CROSS JOIN mask GROUP BY v.device_id
)
SELECT x.device_id, x.busy_count, x.slowed_count, (SELECT string_agg(r.reason, ', ' ORDER BY r.bit_count) FROM _throttle_reason r WHERE x.seen & (1::BIGINT << r.bit_count) <> 0) AS reasons, x.shared_count, x.sample_count
FROM x WHERE (x.slowed_count > 0 OR x.shared_count > 0) AND (x.busy_count IS NULL OR x.busy_count > 0 OR EXISTS (SELECT 1 FROM used))
