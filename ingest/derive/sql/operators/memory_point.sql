-- memory_point: Allocated and reserved memory after each allocation and release.
-- grain: one allocation or release, and for each memory what it was before the first of them
-- key: memory_id, nth
-- needs: memory_event
-- columns:
--   memory_id BIGINT: one allocator of one process, as a source saw it: 63-bit hash of the run and these
--   source_id INTEGER: the source
--   pid INTEGER: process
--   device_type VARCHAR: memory the allocator manages: cpu, cuda, ...
--   device_id INTEGER: GPU; NULL for CPU memory
--   nth BIGINT: 1, 2, ... in the order of time, of one moment releases first; 0 at first_ns for what was given out and held before the first event, as that tells
--   time_ns BIGINT: when
--   alloc_bytes BIGINT: bytes allocated; 0 for a release
--   free_bytes BIGINT: bytes freed; 0 for an allocation
--   allocated_bytes BIGINT: bytes given out after it; where it is not recorded, the sum of what was allocated less freed since the capture began
--   reserved_bytes BIGINT: bytes the allocator holds after it; NULL when not recorded
--   stage VARCHAR: stage it happened in; (none) outside every stage, NULL for nth 0
--   first_ns BIGINT: the first event of the run
--   last_ns BIGINT: the last

WITH e AS (
    SELECT e.memory_id, e.source_id, e.pid, e.device_type, e.device_id, e.nth, e.time_ns, e.alloc_bytes, e.free_bytes, e.allocated_bytes, e.reserved_bytes, e.path_id, x.first_ns, x.last_ns
    FROM _memory_event e, (SELECT min(m.time_ns) AS first_ns, max(m.time_ns) AS last_ns FROM _memory_event m) x
)
SELECT e.memory_id, e.source_id, e.pid, e.device_type, e.device_id, e.nth, e.time_ns, e.alloc_bytes, e.free_bytes, e.allocated_bytes, e.reserved_bytes, coalesce(s.stage, '(none)') AS stage, e.first_ns, e.last_ns
FROM e LEFT JOIN path_stage s ON s.run_id = $run AND s.path_id = e.path_id
UNION ALL
SELECT e.memory_id, e.source_id, e.pid, e.device_type, e.device_id, 0, e.first_ns, 0, 0, e.allocated_bytes - e.alloc_bytes + e.free_bytes, e.reserved_bytes, NULL, e.first_ns, e.last_ns
FROM e
WHERE e.nth = 1
