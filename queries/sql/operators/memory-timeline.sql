-- memory-timeline v1: Allocated and reserved memory over time, in time steps of equal length.
-- grain: one time step, per memory of a process
-- key: device_type, device_id, source_id, pid, time_ns
-- notes: memory
-- params:
--   run VARCHAR: the run
--   buckets BIGINT = 60: time steps from the first to the last allocation or release of the run
-- columns:
--   device_type: memory the allocator manages: cpu, cuda, ...
--   device_id: GPU; NULL for CPU memory
--   time_ns: start of the time step, from the start of the capture
--   allocated_max_bytes: peak of allocated bytes in it; for CPU memory, allocations from before the profiler started are excluded
--   reserved_max_bytes: peak of bytes reserved by the allocator in it, allocated ones included; NULL when not recorded
--   alloc_bytes: bytes allocated in it
--   free_bytes: bytes freed in it
--   alloc_count: allocations in it
--   stage: stage of the allocation or release that reached the peak of allocated bytes; (none) outside every stage, NULL without one in the
--     time step
--   source_id: the source
--   pid: process

WITH part AS ( -- the point before all events of a memory is in the first step
    SELECT
        m.memory_id,
        m.source_id,
        m.pid,
        m.device_type,
        m.device_id,
        m.first_ns,
        (m.last_ns - m.first_ns) // greatest(buckets, 1) + 1 AS step_ns,
        (m.time_ns - m.first_ns) // step_ns AS step,
        max(m.allocated_bytes) AS allocated_max_bytes,
        max(m.reserved_bytes) AS reserved_max_bytes,
        sum(m.alloc_bytes)::BIGINT AS alloc_bytes,
        sum(m.free_bytes)::BIGINT AS free_bytes,
        count(*) FILTER (m.alloc_bytes > 0) AS alloc_count,
        arg_max(m.stage, (m.allocated_bytes, -m.nth)) AS stage,
        arg_max(m.allocated_bytes, m.nth) AS last_allocated_bytes,
        arg_max(m.reserved_bytes, m.nth) AS last_reserved_bytes
    FROM memory_point m
    WHERE m.run_id = run
    GROUP BY ALL
), grid AS (
    SELECT
        p.memory_id,
        p.source_id,
        p.pid,
        p.device_type,
        p.device_id,
        g.step,
        p.first_ns + g.step * p.step_ns AS time_ns
    FROM part p,
        (
            SELECT unnest(range(
                CASE
                    WHEN buckets BETWEEN 1 AND 100000 THEN buckets
                    ELSE error('ARGUMENT: --buckets is 1 to 100000')::BIGINT
                END
            )) AS step
        ) g
    WHERE p.step = 0
)
SELECT
    g.device_type,
    g.device_id,
    g.time_ns,
    greatest(
        p.allocated_max_bytes,
        last_value(p.last_allocated_bytes IGNORE NULLS) OVER earlier
    ) AS allocated_max_bytes,
    greatest(p.reserved_max_bytes, last_value(p.last_reserved_bytes IGNORE NULLS) OVER earlier) AS reserved_max_bytes,
    coalesce(p.alloc_bytes, 0) AS alloc_bytes,
    coalesce(p.free_bytes, 0) AS free_bytes,
    coalesce(p.alloc_count, 0) AS alloc_count,
    p.stage,
    g.source_id,
    g.pid
FROM grid g LEFT JOIN part p ON p.memory_id = g.memory_id AND p.step = g.step
WINDOW earlier AS (PARTITION BY g.memory_id ORDER BY g.step ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
ORDER BY g.device_type = 'cpu', g.device_type, g.device_id, g.source_id, g.pid, g.time_ns
