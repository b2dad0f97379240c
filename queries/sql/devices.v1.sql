-- devices v1: The GPUs of a run and their work.
-- grain: one GPU of a source
-- key: source_id, device
-- notes: graph
-- params:
--   run VARCHAR: the run
-- columns:
--   source_id: the source
--   device: the machine's number of the GPU
--   name: product name; NULL when the capture does not say
--   compute_capability: e.g. 9.0
--   sm_count: streaming multiprocessors
--   clock_hz: maximum SM clock
--   memory_bytes: device memory
--   memory_bytes_per_s: peak memory bandwidth
--   l2_bytes: L2 cache
--   kernel_count: kernels it ran
--   kernel_sum_ns: sum of their execution times
--   uuid: the GPU's UUID
--   bus_id: PCI address

WITH work AS (
    SELECT k.source_id, k.device_id, count(*) AS kernel_count, sum(k.duration_ns)::BIGINT AS kernel_sum_ns
    FROM kernel k WHERE k.run_id = _run_id_v1(run) GROUP BY ALL
), known AS (
    SELECT d.source_id, d.device_id, d.name, d.compute_capability, d.sm_count, d.clock_hz, d.memory_bytes, d.memory_bytes_per_s, d.l2_bytes, d.uuid, d.bus_id
    FROM device d WHERE d.run_id = _run_id_v1(run)
)
SELECT coalesce(d.source_id, w.source_id) AS source_id, coalesce(d.device_id, w.device_id) AS device, d.name, d.compute_capability, d.sm_count, d.clock_hz,
    d.memory_bytes, d.memory_bytes_per_s, d.l2_bytes, coalesce(w.kernel_count, 0) AS kernel_count, coalesce(w.kernel_sum_ns, 0) AS kernel_sum_ns, d.uuid, d.bus_id
FROM known d FULL JOIN work w ON w.source_id = d.source_id AND w.device_id = d.device_id
ORDER BY 1, 2
