-- devices v5: The GPUs of a run and the work they ran; a GPU in both a timeline and an Nsight Compute report is one row.
-- grain: one GPU of one source
-- key: source_id, device
-- notes: graph timelines
-- params:
--   run VARCHAR: the run
--   {source}
-- columns:
--   source_id: the source: a timeline of the counted kind, or an Nsight Compute report whose GPU no such timeline has
--   device: GPU number on the machine
--   name: product name; NULL when the capture has none
--   compute_capability: e.g. 9.0
--   sm_count: streaming multiprocessors
--   clock_hz: maximum SM clock
--   memory_bytes: device memory
--   memory_bytes_per_s: peak memory bandwidth
--   l2_bytes: L2 cache
--   kernel_count: kernels it ran; NULL where the source has sums, which do not say on which GPU
--   kernel_sum_ns: sum of their durations; NULL likewise
--   is_used: whether any device work ran on it, graph replays and copies included; NULL likewise
--   uuid: the GPU's UUID
--   bus_id: PCI address

WITH shown AS (
    SELECT s.source_id
    FROM source s
    WHERE s.run_id = run
        AND (
            s.kind NOT IN ({'timelines'}) OR s.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        )
), work AS (
    SELECT
        k.source_id,
        k.device_id,
        count(*) AS kernel_count,
        sum(k.duration_ns)::BIGINT AS kernel_sum_ns
    FROM kernel k
    WHERE k.run_id = run
    GROUP BY ALL
), sums AS (
    SELECT DISTINCT r.source_id
    FROM reported_sum r
    WHERE r.run_id = run
), known AS (
    SELECT
        d.source_id,
        d.device_id,
        d.name,
        d.compute_capability,
        d.sm_count,
        d.clock_hz,
        d.memory_bytes,
        d.memory_bytes_per_s,
        d.l2_bytes,
        d.uuid,
        d.bus_id
    FROM device d
    WHERE d.run_id = run
        AND NOT (
            EXISTS (
                SELECT 1
                FROM source s
                WHERE s.run_id = run AND s.source_id = d.source_id AND s.kind = 'ncu'
            )
            AND EXISTS (
                SELECT 1
                FROM device o
                WHERE o.run_id = run
                    AND o.device_id = d.device_id
                    AND o.name = d.name
                    AND coalesce(o.uuid = d.uuid, true)
                    AND o.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
            )
        )
)
SELECT
    coalesce(d.source_id, w.source_id) AS source_id,
    coalesce(d.device_id, w.device_id) AS device,
    d.name,
    d.compute_capability,
    d.sm_count,
    d.clock_hz,
    d.memory_bytes,
    d.memory_bytes_per_s,
    d.l2_bytes,
    CASE WHEN z.source_id IS NULL THEN coalesce(w.kernel_count, 0) END AS kernel_count,
    CASE WHEN z.source_id IS NULL THEN coalesce(w.kernel_sum_ns, 0) END AS kernel_sum_ns,
    CASE
        WHEN z.source_id IS NULL
            THEN coalesce(w.kernel_count, 0) > 0
            OR EXISTS (
                SELECT 1
                FROM device_time t
                WHERE t.run_id = run AND t.source_id = d.source_id AND t.device_id = d.device_id AND t.range_id IS NULL
            )
    END AS is_used,
    d.uuid,
    d.bus_id
FROM known d
FULL JOIN work w ON w.source_id = d.source_id AND w.device_id = d.device_id
LEFT JOIN sums z ON z.source_id = coalesce(d.source_id, w.source_id)
WHERE coalesce(d.source_id, w.source_id) IN (SELECT shown.source_id FROM shown)
ORDER BY 1, 2
