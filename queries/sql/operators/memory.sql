-- memory v1: Who holds the memory at its peak: what was allocated and not yet freed at the first moment of the most allocated bytes, by the operator that allocated it.
-- grain: one operator, outermost operator, stage and range, of one memory of one process
-- key: device_type, device_id, source_id, pid, operator, outermost_operator, stage, range
-- notes: memory
-- params:
--   run VARCHAR: the run
--   top BIGINT = 0: rows of a memory at most; 0 for all
-- columns:
--   device_type: whose memory: cpu, cuda, ...
--   device_id: GPU; NULL for the CPU's memory
--   operator: innermost operator that allocated it; (none) outside every operator, (before the capture) for the rest of peak_bytes: what was allocated before the
--     capture began, or where its release cannot be told; so the rows of a memory add up to peak_bytes
--   outermost_operator: the outermost operator around it; NULL outside every operator
--   stage: stage it was allocated in; (none) outside every stage, NULL before the capture
--   range: innermost range it was allocated in; (none) outside every range, NULL before the capture
--   live_bytes: bytes of these allocations that are live at the peak
--   allocation_count: these allocations; NULL before the capture
--   share_ratio: live_bytes as a share of peak_bytes
--   peak_bytes: most bytes the allocator had given out; of CPU memory without those from before the profiler ran
--   reserved_bytes: bytes the allocator held then, those given out included; NULL when not recorded
--   peak_time_ns: when, from the capture's start
--   source_id: the source
--   pid: process

SELECT p.device_type, p.device_id, p.operator, p.outermost_operator, p.stage, p."range", p.live_bytes, p.allocation_count, p.live_bytes / nullif(p.peak_bytes, 0) AS share_ratio,
    p.peak_bytes, p.reserved_bytes, p.peak_time_ns, p.source_id, p.pid
FROM memory_peak p
WHERE p.run_id = run
QUALIFY top = 0 OR row_number() OVER (PARTITION BY p.memory_id ORDER BY p.live_bytes DESC, p.operator, p.outermost_operator, p.stage, p."range") <= top
ORDER BY p.device_type = 'cpu', p.peak_bytes DESC, p.source_id, p.pid, p.device_type, p.device_id, p.live_bytes DESC, p.operator, p.outermost_operator, p.stage, p."range"
