-- _finding_gpu: Limits of the GPUs of each kind of timeline. What a timeline does not say of its GPU, the other sources may; of GPUs that
--     differ by source nothing is known.
-- grain: one GPU, per kind of timeline
-- key: kind, device_id
-- needs: device_time device
-- columns:
--   kind VARCHAR: {timelines}
--   device_id INTEGER: GPU
--   sm_count BIGINT: streaming multiprocessors; NULL when unknown
--   is_one BOOLEAN: whether all sources say the same of it
--   compute_capability VARCHAR: compute capability
--   max_warp_per_sm_count BIGINT: warps that fit on an SM
--   shared_per_sm_bytes BIGINT: shared memory of an SM

WITH own AS (
    SELECT
        t.kind,
        d.device_id,
        d.sm_count,
        d.compute_capability,
        d.max_warp_per_sm_count,
        d.shared_per_sm_bytes
    FROM device d JOIN timeline t ON t.run_id = d.run_id AND t.source_id = d.source_id
    WHERE d.run_id = $run AND d.sm_count IS NOT NULL
), known AS (
    SELECT
        o.kind,
        o.device_id,
        o.sm_count,
        o.compute_capability,
        o.max_warp_per_sm_count,
        o.shared_per_sm_bytes
    FROM own o
    UNION ALL
    SELECT
        k.kind,
        d.device_id,
        d.sm_count,
        d.compute_capability,
        d.max_warp_per_sm_count,
        d.shared_per_sm_bytes
    FROM (SELECT DISTINCT t.kind FROM timeline t WHERE t.run_id = $run) k
    JOIN device d ON d.run_id = $run AND d.sm_count IS NOT NULL
    WHERE NOT EXISTS (SELECT 1 FROM own o WHERE o.kind = k.kind AND o.device_id = d.device_id)
)
SELECT
    d.kind,
    d.device_id,
    CASE WHEN min(d.sm_count) = max(d.sm_count) THEN min(d.sm_count) END AS sm_count,
    count(DISTINCT (d.sm_count, d.compute_capability, d.max_warp_per_sm_count, d.shared_per_sm_bytes)) = 1 AS is_one,
    any_value(d.compute_capability) AS compute_capability,
    any_value(d.max_warp_per_sm_count) AS max_warp_per_sm_count,
    any_value(d.shared_per_sm_bytes) AS shared_per_sm_bytes
FROM known d
GROUP BY d.kind, d.device_id
