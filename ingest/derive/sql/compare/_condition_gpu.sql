-- _condition_gpu: The GPUs that a run's counted work ran on, with what NVML told of them; of a run without a timeline those of Nsight Compute.
-- grain: one GPU of a source
-- key: run_id, source_id, device_id
-- columns:
--   run_id UUID: the run
--   source_id INTEGER: the source that tells of the GPU
--   device_id INTEGER: number of the GPU in that source
--   name VARCHAR: product name; NULL when no source says
--   gpu VARCHAR: what tells the GPU from others of the run: UUID, PCI address, or rank and number
--   uuid VARCHAR: UUID; NULL when the source does not say
--   sm_count BIGINT: streaming multiprocessors
--   max_clock_hz BIGINT: highest SM clock
--   power_limit_w DOUBLE: enforced power limit; NULL when NVML was not asked
--   is_ecc BOOLEAN: whether memory is checked for errors; NULL likewise
--   is_mig BOOLEAN: whether the GPU is split into instances (MIG); NULL likewise

SELECT x.run_id, x.source_id, x.device_id, x.name, x.gpu, x.uuid, x.sm_count, x.max_clock_hz, x.power_limit_w, x.is_ecc, x.is_mig
FROM (
    -- A view of all runs, as the others of this kind: the id of the run is then looked up once, and the filter by it goes down to the tables.
    -- Where none of the GPUs that a source lists has work, as where a trace numbers them in two ways, all of them may have.
    SELECT s.run_id, s.source_id, d.device_id, coalesce(d.name, c.name) AS name, coalesce(d.uuid, d.bus_id, coalesce(s.rank_id, 0) || ':' || d.device_id) AS gpu, d.uuid,
        d.sm_count, coalesce(d.clock_hz, c.max_sm_clock_hz) AS max_clock_hz, c.power_limit_w, c.is_ecc, c.is_mig
    FROM source s
    JOIN device d ON d.run_id = s.run_id AND d.source_id = s.source_id
    LEFT JOIN device_time t ON t.run_id = d.run_id AND t.source_id = d.source_id AND t.device_id = d.device_id AND t.range_id IS NULL
    LEFT JOIN capture_device c ON c.run_id = d.run_id AND replace(c.uuid, 'GPU-', '') = replace(d.uuid, 'GPU-', '')
    WHERE s.kind IN ('nsys', 'torch', 'ncu')
    QUALIFY CASE s.kind WHEN 'nsys' THEN 0 WHEN 'torch' THEN 1 ELSE 2 END = min(CASE s.kind WHEN 'nsys' THEN 0 WHEN 'torch' THEN 1 ELSE 2 END) OVER (PARTITION BY s.run_id)
        AND (t.device_id IS NOT NULL) = bool_or(t.device_id IS NOT NULL) OVER (PARTITION BY s.run_id, s.source_id)
) x
WHERE x.run_id = $run
