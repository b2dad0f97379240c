-- memory_peak: Live memory at the peak of allocated bytes, by the operator that allocated it.
-- grain: one operator, outermost operator and path of ranges, per memory of a process
-- key: memory_id, op_name_id, outermost_op_name_id, path_id
-- needs: memory_event
-- columns:
--   memory_id BIGINT: as in memory_point
--   source_id INTEGER: the source
--   pid INTEGER: process
--   device_type VARCHAR: memory the allocator manages: cpu, cuda, ...
--   device_id INTEGER: GPU; NULL for CPU memory
--   peak_bytes BIGINT: peak of allocated bytes; for CPU memory, allocations from before the profiler started are excluded
--   reserved_bytes BIGINT: bytes reserved by the allocator at that moment, allocated ones included; NULL when not recorded
--   peak_time_ns BIGINT: time of the peak, from the start of the capture
--   op_name_id BIGINT: innermost operator that allocated the memory; 0 outside every operator. NULL is the rest of peak_bytes: memory
--     allocated before the capture began, or whose release cannot be identified. The rows of a memory add up to peak_bytes
--   outermost_op_name_id BIGINT: outermost operator around the allocation; NULL outside every operator
--   path_id BIGINT: path of the ranges of the allocation; 0 outside every range, NULL before the capture
--   live_bytes BIGINT: bytes of these allocations still live at the peak
--   allocation_count BIGINT: number of these allocations; NULL before the capture

WITH top AS (
    SELECT
        e.memory_id,
        max(e.allocated_bytes) AS peak_bytes
    FROM _memory_event e
    GROUP BY e.memory_id
), first AS ( -- reached at first; no window, which would sort all events
    SELECT
        e.memory_id,
        min(e.nth) AS nth
    FROM _memory_event e
    JOIN top ON top.memory_id = e.memory_id AND e.allocated_bytes = top.peak_bytes
    GROUP BY e.memory_id
), peak AS (
    SELECT
        e.memory_id,
        e.source_id,
        e.pid,
        e.device_type,
        e.device_id,
        e.nth,
        e.time_ns,
        e.allocated_bytes AS peak_bytes,
        e.reserved_bytes
    FROM _memory_event e JOIN first ON first.memory_id = e.memory_id AND first.nth = e.nth
), live AS MATERIALIZED (
    SELECT e.memory_id, e.source_id, e.pid, e.tid, e.time_ns, e.alloc_bytes, e.op_id, e.path_id
    FROM _memory_event e JOIN peak p ON p.memory_id = e.memory_id AND e.nth <= p.nth
    WHERE e.alloc_bytes > 0 AND e.is_known AND (e.end_ns IS NULL OR e.end_ns > p.time_ns)
), began AS ( -- outermost operators of a thread do not overlap
    SELECT l.memory_id, l.source_id, l.pid, l.tid, l.op_id, l.path_id, l.alloc_bytes, o.start_ns
    FROM live l
    ASOF LEFT JOIN (
        SELECT o.source_id, o.pid, o.tid, o.start_ns
        FROM op o
        WHERE o.run_id = $run AND o.depth = 1
    ) o ON o.source_id = l.source_id AND o.pid = l.pid AND o.tid = l.tid AND l.time_ns >= o.start_ns
), outer_op AS (
    SELECT
        o.source_id,
        o.pid,
        o.tid,
        o.start_ns,
        arg_max(o.op_name_id, (o.duration_ns, o.op_id)) AS op_name_id
    FROM op o
    SEMI JOIN began b ON b.source_id = o.source_id AND b.pid = o.pid AND b.tid = o.tid AND b.start_ns = o.start_ns
    WHERE o.run_id = $run AND o.depth = 1
    GROUP BY o.source_id, o.pid, o.tid, o.start_ns
), held AS (
    SELECT
        b.memory_id,
        b.op_id,
        b.path_id,
        CASE WHEN b.op_id > 0 THEN u.op_name_id END AS outer_name_id,
        b.alloc_bytes
    FROM began b
    LEFT JOIN outer_op u ON u.source_id = b.source_id AND u.pid = b.pid AND u.tid = b.tid AND u.start_ns = b.start_ns
), row AS (
    SELECT
        h.memory_id,
        coalesce(o.op_name_id, 0) AS op_name_id,
        h.outer_name_id AS outermost_op_name_id,
        h.path_id,
        sum(h.alloc_bytes)::BIGINT AS live_bytes,
        count(*) AS allocation_count
    FROM held h LEFT JOIN op o ON o.run_id = $run AND o.op_id = h.op_id
    GROUP BY ALL
    UNION ALL
    SELECT
        p.memory_id,
        NULL,
        NULL,
        NULL,
        p.peak_bytes
            - coalesce((SELECT sum(h.alloc_bytes) FROM held h WHERE h.memory_id = p.memory_id), 0)::BIGINT AS rest,
        NULL
    FROM peak p
    WHERE rest <> 0
)
SELECT
    p.memory_id,
    p.source_id,
    p.pid,
    p.device_type,
    p.device_id,
    p.peak_bytes,
    p.reserved_bytes,
    p.time_ns AS peak_time_ns,
    w.op_name_id,
    w.outermost_op_name_id,
    w.path_id,
    w.live_bytes,
    w.allocation_count
FROM row w JOIN peak p ON p.memory_id = w.memory_id
