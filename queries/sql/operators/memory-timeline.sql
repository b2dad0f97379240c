-- memory-timeline v1: Allocated and reserved memory over time, in steps of one length.
-- grain: one step, of one memory of one process
-- key: device_type, device_id, source_id, pid, time_ns
-- notes: memory
-- params:
--   run VARCHAR: the run
--   buckets BIGINT = 60: steps from the first to the last allocation or release of the run
-- columns:
--   device_type: whose memory: cpu, cuda, ...
--   device_id: GPU; NULL for the CPU's memory
--   time_ns: start of the step, from the capture's start
--   allocated_max_bytes: most bytes the allocator had given out in it; of CPU memory without those from before the profiler ran
--   reserved_max_bytes: most bytes the allocator held in it, those given out included; NULL when not recorded
--   alloc_bytes: bytes allocated in it
--   free_bytes: bytes freed in it
--   alloc_count: allocations in it
--   stage: stage of the allocation or release after which the most bytes were given out; (none) outside every stage, NULL without one in the step
--   source_id: the source
--   pid: process

WITH e AS (
    SELECT m.memory_id, m.source_id, m.pid, m.device_type, m.device_id, m.nth, m.time_ns, m.alloc_bytes, m.free_bytes, m.allocated_bytes, m.reserved_bytes, m.stage FROM memory_point m WHERE m.run_id = run
), span AS (
    SELECT x.start_ns, (x.end_ns - x.start_ns) // CASE WHEN buckets BETWEEN 1 AND 100000 THEN buckets ELSE error('ARGUMENT: --buckets is 1 to 100000')::BIGINT END + 1 AS step_ns
    FROM (SELECT min(e.time_ns) AS start_ns, max(e.time_ns) AS end_ns FROM e) x
), memory AS ( -- what was given out and held before its first event is known from that event
    SELECT e.memory_id, e.source_id, e.pid, e.device_type, e.device_id, e.allocated_bytes - e.alloc_bytes + e.free_bytes AS allocated_bytes, e.reserved_bytes FROM e WHERE e.nth = 1
), part AS (
    SELECT e.memory_id, (e.time_ns - span.start_ns) // span.step_ns AS step, max(e.allocated_bytes) AS allocated_max_bytes, max(e.reserved_bytes) AS reserved_max_bytes,
        sum(e.alloc_bytes) AS alloc_bytes, sum(e.free_bytes) AS free_bytes, count(*) FILTER (e.alloc_bytes > 0) AS alloc_count,
        arg_max(e.stage, (e.allocated_bytes, -e.nth)) AS stage, arg_max(e.allocated_bytes, e.nth) AS last_allocated_bytes, arg_max(e.reserved_bytes, e.nth) AS last_reserved_bytes
    FROM e, span
    GROUP BY ALL
), grid AS (
    SELECT m.memory_id, g.step, span.start_ns + g.step * span.step_ns AS time_ns FROM memory m, span, range(buckets) g(step)
), filled AS (
    SELECT g.memory_id, g.step, g.time_ns, p.allocated_max_bytes, p.reserved_max_bytes, p.alloc_bytes, p.free_bytes, p.alloc_count, p.stage,
        last_value(p.last_allocated_bytes IGNORE NULLS) OVER earlier AS before_allocated_bytes, last_value(p.last_reserved_bytes IGNORE NULLS) OVER earlier AS before_reserved_bytes
    FROM grid g LEFT JOIN part p ON p.memory_id = g.memory_id AND p.step = g.step
    WINDOW earlier AS (PARTITION BY g.memory_id ORDER BY g.step ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
)
SELECT m.device_type, m.device_id, f.time_ns, greatest(f.allocated_max_bytes, coalesce(f.before_allocated_bytes, m.allocated_bytes)) AS allocated_max_bytes,
    greatest(f.reserved_max_bytes, coalesce(f.before_reserved_bytes, m.reserved_bytes)) AS reserved_max_bytes, coalesce(f.alloc_bytes, 0)::BIGINT AS alloc_bytes,
    coalesce(f.free_bytes, 0)::BIGINT AS free_bytes, coalesce(f.alloc_count, 0) AS alloc_count, f.stage, m.source_id, m.pid
FROM filled f JOIN memory m ON m.memory_id = f.memory_id
ORDER BY m.device_type = 'cpu', m.device_type, m.device_id, m.source_id, m.pid, f.time_ns
