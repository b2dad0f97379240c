-- memory_point: Allocated and reserved memory after each allocation and release.
-- grain: one allocation or release, and per memory the state before the first of them
-- key: memory_id, nth
-- needs: memory_event
-- columns:
--   memory_id BIGINT: allocator of a process, as one source recorded it: 63-bit hash of run, source, process, device type and device
--   source_id INTEGER: the source
--   pid INTEGER: process
--   device_type VARCHAR: memory the allocator manages: cpu, cuda, ...
--   device_id INTEGER: GPU; NULL for CPU memory
--   nth BIGINT: event number in time order, from 1; releases first at equal times; 0 at first_ns for what was allocated and reserved before
--     the first event, derived from it
--   time_ns BIGINT: event time
--   alloc_bytes BIGINT: bytes allocated; 0 for a release
--   free_bytes BIGINT: bytes freed; 0 for an allocation
--   allocated_bytes BIGINT: bytes allocated after the event; where not recorded, the sum of allocations less releases since the capture
--     began
--   reserved_bytes BIGINT: bytes reserved by the allocator after the event; NULL when not recorded
--   stage VARCHAR: stage of the event; (none) outside every stage, NULL for nth 0
--   first_ns BIGINT: first event of the run
--   last_ns BIGINT: last event of the run

WITH e AS (
    SELECT
        e.memory_id,
        e.source_id,
        e.pid,
        e.device_type,
        e.device_id,
        e.nth,
        e.time_ns,
        e.alloc_bytes,
        e.free_bytes,
        e.allocated_bytes,
        e.reserved_bytes,
        e.path_id,
        x.first_ns,
        x.last_ns
    FROM _memory_event e, (SELECT min(m.time_ns) AS first_ns, max(m.time_ns) AS last_ns FROM _memory_event m) x
)
SELECT
    e.memory_id,
    e.source_id,
    e.pid,
    e.device_type,
    e.device_id,
    e.nth,
    e.time_ns,
    e.alloc_bytes,
    e.free_bytes,
    e.allocated_bytes,
    e.reserved_bytes,
    coalesce(s.stage, '(none)') AS stage,
    e.first_ns,
    e.last_ns
FROM e LEFT JOIN path_stage s ON s.run_id = $run AND s.path_id = e.path_id
UNION ALL
SELECT
    e.memory_id,
    e.source_id,
    e.pid,
    e.device_type,
    e.device_id,
    0,
    e.first_ns,
    0,
    0,
    e.allocated_bytes - e.alloc_bytes + e.free_bytes,
    e.reserved_bytes,
    NULL,
    e.first_ns,
    e.last_ns
FROM e
WHERE e.nth = 1
