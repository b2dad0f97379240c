-- _memory_event: Allocations and releases in their order, with the total after each and the end of each allocation.
-- grain: one allocation or release
-- key: memory_id, nth
-- needs: memory_event
-- columns:
--   memory_id BIGINT: allocator of a process, as one source recorded it: 63-bit hash of run, source, process, device type and device
--   source_id INTEGER: the source
--   pid INTEGER: process
--   tid INTEGER: thread
--   device_type VARCHAR: memory the allocator manages: cpu, cuda, ...
--   device_id INTEGER: GPU; NULL for CPU memory
--   nth BIGINT: 1, 2, ... in the order of time; of one moment releases come first
--   time_ns BIGINT: event time
--   alloc_bytes BIGINT: bytes allocated; 0 for a release
--   free_bytes BIGINT: bytes freed; 0 for an allocation
--   allocated_bytes BIGINT: bytes allocated after the event; where not recorded, the sum of allocations less releases since the capture
--     began
--   reserved_bytes BIGINT: bytes reserved by the allocator after the event; NULL when not recorded
--   end_ns BIGINT: when the address was next freed; NULL for a release, and when it was not before the capture ended
--   is_known BOOLEAN: whether the address is known, so that its release can be found
--   op_id BIGINT: innermost operator open on the thread; 0 outside every operator
--   path_id BIGINT: the path of the ranges it happened in

WITH e AS (
    SELECT
        (hash($run, m.source_id, m.pid, m.device_type, m.device_id) >> 1)::BIGINT AS memory_id,
        m.source_id,
        m.pid,
        m.tid,
        m.device_type,
        m.device_id,
        m.time_ns,
        m.address,
        m.size_bytes,
        m.allocated_bytes,
        m.reserved_bytes,
        m.op_id,
        m.path_id
    FROM memory_event m
    WHERE m.run_id = $run
)
SELECT
    e.memory_id,
    e.source_id,
    e.pid,
    e.tid,
    e.device_type,
    e.device_id,
    row_number() OVER in_time AS nth,
    e.time_ns,
    greatest(e.size_bytes, 0) AS alloc_bytes,
    greatest(-e.size_bytes, 0) AS free_bytes,
    coalesce(e.allocated_bytes, sum(e.size_bytes) OVER in_time)::BIGINT AS allocated_bytes,
    e.reserved_bytes,
    CASE WHEN e.size_bytes > 0 AND e.address IS NOT NULL THEN lead(e.time_ns) OVER at_address END AS end_ns,
    e.address IS NOT NULL AS is_known,
    e.op_id,
    e.path_id
FROM e
WINDOW in_time AS (
        PARTITION BY e.memory_id
        ORDER BY e.time_ns, e.size_bytes, e.address, e.op_id
        ROWS UNBOUNDED PRECEDING
    ), at_address AS (PARTITION BY e.memory_id, e.address ORDER BY e.time_ns, e.size_bytes)
