-- memory_point: Allocated and reserved memory after each allocation and release.
-- grain: one allocation or release
-- key: memory_id, nth
-- needs: memory_event
-- columns:
--   memory_id BIGINT: 1, 2, ...: one allocator of one process, as a source saw it
--   source_id INTEGER: the source
--   pid INTEGER: process
--   device_type VARCHAR: whose memory: cpu, cuda, ...
--   device_id INTEGER: GPU; NULL for the CPU's memory
--   nth BIGINT: 1, 2, ... in the order of time; of one moment releases come first
--   time_ns BIGINT: when
--   alloc_bytes BIGINT: bytes allocated; 0 for a release
--   free_bytes BIGINT: bytes freed; 0 for an allocation
--   allocated_bytes BIGINT: bytes given out after it; where it is not recorded, the sum of what was allocated less freed since the capture began
--   reserved_bytes BIGINT: bytes the allocator holds after it; NULL when not recorded
--   stage VARCHAR: stage it happened in; (none) outside every stage

SELECT e.memory_id, e.source_id, e.pid, e.device_type, e.device_id, e.nth, e.time_ns, e.alloc_bytes, e.free_bytes, e.allocated_bytes, e.reserved_bytes, coalesce(s.stage, '(none)') AS stage
FROM _memory_event e LEFT JOIN path_stage s ON s.run_id = $run AND s.path_id = e.path_id
ORDER BY e.memory_id, e.nth
