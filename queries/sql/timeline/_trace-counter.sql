-- _trace-counter: Figures over time on the clock of one source, for a trace: GPU metrics that the profiler sampled, samples of NVML in its
--     recording, and memory of PyTorch's allocators.
-- grain: one figure at one time
-- key: origin_id, device_id, pid, metric_id, time_ns, nth
-- params:
--   run VARCHAR: the run
--   of_source BIGINT = 1: the source
--   from_time BIGINT = NULL: only from this time of the source on
--   until_time BIGINT = NULL: only up to this time of the source
--   device BIGINT = NULL: only this GPU
--   part_time BIGINT = NULL: only from this time on
--   next_time BIGINT = NULL: only before this time
-- columns:
--   origin_id: 1 NVML, 2 profiler, 3 allocated and 4 reserved memory of an allocator
--   device_id: GPU; NULL when the capture does not say, and for CPU memory
--   pid: process of an allocator; NULL for others
--   metric_id: number of the figure, with its origin and GPU
--   time_ns: when
--   nth: order of equal times
--   value: the figure, in its unit
--   metric: its name
--   unit: ratio (0-1), hz, bytes, bytes_per_s, w, c, or raw as the profiler stores it

WITH nvml AS (
    SELECT
        d.device_id,
        d.time_ns + epoch_ns(p.started_at) - epoch_ns(s.started_at) AS time_ns,
        d.sm_clock_hz,
        d.memory_clock_hz,
        d.power_w,
        d.memory_used_bytes,
        d.sm_ratio,
        d.memory_ratio,
        d.temperature_c
    FROM capture_source c
    JOIN capture_pass p ON p.run_id = c.run_id AND p.pass_id = c.pass_id
    JOIN source s ON s.run_id = c.run_id AND s.source_id = c.captured_source_id AND s.started_at IS NOT NULL
    JOIN device_sample d ON d.run_id = c.run_id AND d.pass_id = c.pass_id
    WHERE c.run_id = run AND c.captured_source_id = of_source
), figure AS (
    SELECT
        1 AS origin_id,
        n.device_id,
        NULL::BIGINT AS pid,
        1::BIGINT AS metric_id,
        n.time_ns,
        0::BIGINT AS nth,
        n.sm_clock_hz::DOUBLE AS value,
        'SM clock' AS metric,
        'hz' AS unit
    FROM nvml n
    UNION ALL
    SELECT 1, n.device_id, NULL, 2, n.time_ns, 0, n.memory_clock_hz, 'memory clock', 'hz'
    FROM nvml n
    UNION ALL
    SELECT 1, n.device_id, NULL, 3, n.time_ns, 0, n.power_w, 'power', 'w'
    FROM nvml n
    UNION ALL
    SELECT 1, n.device_id, NULL, 4, n.time_ns, 0, n.memory_used_bytes, 'memory used', 'bytes'
    FROM nvml n
    UNION ALL
    SELECT 1, n.device_id, NULL, 5, n.time_ns, 0, n.sm_ratio, 'GPU utilisation', 'ratio'
    FROM nvml n
    UNION ALL
    SELECT 1, n.device_id, NULL, 6, n.time_ns, 0, n.memory_ratio, 'memory utilisation', 'ratio'
    FROM nvml n
    UNION ALL
    SELECT 1, n.device_id, NULL, 7, n.time_ns, 0, n.temperature_c, 'temperature', 'c'
    FROM nvml n
    UNION ALL
    SELECT 2, n.device_id, NULL, n.nth, m.time_ns, 0, m.value, n.name, n.unit
    FROM gpu_metric m
    JOIN (
        SELECT
            n.type_id,
            n.metric_id,
            n.device_id,
            n.name,
            n.unit,
            row_number() OVER (ORDER BY n.type_id, n.metric_id) AS nth
        FROM gpu_metric_name n
        WHERE n.run_id = run AND n.source_id = of_source
    ) n ON n.type_id = m.type_id AND n.metric_id = m.metric_id
    WHERE m.run_id = run AND m.source_id = of_source
    UNION ALL
    SELECT
        3,
        m.device_id,
        m.pid,
        m.memory_id,
        m.time_ns,
        m.nth,
        m.allocated_bytes,
        'allocated ' || m.device_type || ' memory',
        'bytes'
    FROM memory_point m
    WHERE m.run_id = run AND m.source_id = of_source
    UNION ALL
    SELECT
        4,
        m.device_id,
        m.pid,
        m.memory_id,
        m.time_ns,
        m.nth,
        m.reserved_bytes,
        'reserved ' || m.device_type || ' memory',
        'bytes'
    FROM memory_point m
    WHERE m.run_id = run AND m.source_id = of_source
)
SELECT
    f.origin_id::BIGINT AS origin_id,
    f.device_id::BIGINT AS device_id,
    f.pid::BIGINT AS pid,
    f.metric_id,
    f.time_ns,
    f.nth,
    f.value,
    f.metric,
    f.unit
FROM figure f
WHERE f.value IS NOT NULL
    AND (device IS NULL OR f.device_id = device)
    AND (from_time IS NULL OR f.time_ns >= from_time)
    AND (until_time IS NULL OR f.time_ns <= until_time)
    AND (part_time IS NULL OR f.time_ns >= part_time)
    AND (next_time IS NULL OR f.time_ns < next_time)
ORDER BY f.time_ns, f.origin_id, f.device_id, f.pid, f.metric_id, f.nth
