-- memory v1: Live memory at the peak of allocated bytes, by the operator that allocated it.
-- grain: one operator, outermost operator, stage and range, per memory of a process
-- key: device_type, device_id, source_id, pid, operator, outermost_operator, stage, range
-- notes: memory
-- params:
--   run VARCHAR: the run
--   top BIGINT = 0: maximum rows per memory; 0 for all
-- columns:
--   device_type: memory the allocator manages: cpu, cuda, ...
--   device_id: GPU; NULL for CPU memory
--   operator: innermost operator that allocated the memory; (none) outside every operator. (before the capture) is the rest of peak_bytes:
--     memory allocated before the capture began, or whose release cannot be identified. The rows of a memory add up to peak_bytes
--   outermost_operator: outermost operator around the allocation; NULL outside every operator
--   stage: stage of the allocation; (none) outside every stage, NULL before the capture
--   range: innermost range of the allocation; (none) outside every range, NULL before the capture
--   live_bytes: bytes of these allocations still live at the peak
--   allocation_count: number of these allocations; NULL before the capture
--   share_ratio: live_bytes as a share of peak_bytes
--   peak_bytes: peak of allocated bytes; for CPU memory, allocations from before the profiler started are excluded
--   reserved_bytes: bytes reserved by the allocator at that moment, allocated ones included; NULL when not recorded
--   peak_time_ns: time of the peak, from the start of the capture
--   source_id: the source
--   pid: process

WITH p AS (
    SELECT
        p.memory_id,
        p.device_type,
        p.device_id,
        CASE WHEN p.op_name_id IS NULL THEN '(before the capture)' ELSE coalesce(n.name, '(none)') END AS operator,
        w.name AS outermost_operator,
        CASE WHEN p.op_name_id IS NOT NULL THEN coalesce(s.stage, '(none)') END AS stage,
        CASE WHEN p.op_name_id IS NOT NULL THEN coalesce(r.name, '(none)') END AS "range",
        sum(p.live_bytes)::BIGINT AS live_bytes,
        sum(p.allocation_count)::BIGINT AS allocation_count,
        p.peak_bytes,
        p.reserved_bytes,
        p.peak_time_ns,
        p.source_id,
        p.pid
    FROM memory_peak p
    LEFT JOIN op_name n ON n.run_id = run AND n.op_name_id = p.op_name_id
    LEFT JOIN op_name w ON w.run_id = run AND w.op_name_id = p.outermost_op_name_id
    LEFT JOIN path_stage s ON s.run_id = run AND s.path_id = p.path_id
    LEFT JOIN range_path r ON r.run_id = run AND r.path_id = p.path_id
    WHERE p.run_id = run
    GROUP BY ALL
)
SELECT
    p.device_type,
    p.device_id,
    p.operator,
    p.outermost_operator,
    p.stage,
    p."range",
    p.live_bytes,
    p.allocation_count,
    p.live_bytes / nullif(p.peak_bytes, 0) AS share_ratio,
    p.peak_bytes,
    p.reserved_bytes,
    p.peak_time_ns,
    p.source_id,
    p.pid
FROM p
QUALIFY top = 0
    OR row_number() OVER (
        PARTITION BY p.memory_id
        ORDER BY p.live_bytes DESC, p.operator, p.outermost_operator, p.stage, p."range"
    )
        <= top
ORDER BY p.device_type = 'cpu', p.peak_bytes DESC, p.source_id, p.pid, p.device_type, p.device_id, p.live_bytes DESC,
    p.operator, p.outermost_operator, p.stage, p."range"
