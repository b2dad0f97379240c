-- _allocator: Memory that the calls of allocator-calls got and gave back, and how often memory was given back to ask for more.
-- grain: one stage on one GPU, per timeline kind
-- key: kind, stage, device_id
-- needs: _pause
-- columns:
--   kind VARCHAR: {timelines}
--   stage VARCHAR: the stage; NULL: all device work of a timeline without measured passes
--   device_id INTEGER: GPU
--   retry_count BIGINT: idle gaps in which a thread frees memory and then allocates some, as PyTorch's allocator does when memory runs out
--   got_bytes BIGINT: GPU memory that CUDA gave in the calls; NULL when not recorded
--   given_bytes BIGINT: GPU memory that CUDA took back in them; NULL when not recorded
--   block_bytes BIGINT: sizes of the blocks that PyTorch's allocator gave out right after calls that allocate: what it asked CUDA for them
--     is as much or more; NULL when not recorded

WITH did AS ( -- a call that is in two gaps counts in the first
    SELECT
        p.kind,
        p.stage,
        p.device_id,
        y.source_id,
        y.pid,
        y.tid,
        y.begun_ns,
        min(y.gap_start_ns) AS gap_start_ns,
        max(y.end_ns) AS end_ns,
        regexp_matches(y.name, 'Free|Release|Unmap') AS is_free
    FROM _pause y
    JOIN _finding_part p
        ON p.source_id = y.source_id
        AND p.device_id = y.device_id
        AND y.gap_start_ns >= p.start_ns
        AND y.gap_start_ns < p.end_ns
    WHERE y.cause = 'allocate' AND coalesce(NOT y.is_failed, true)
    GROUP BY ALL
), retry AS (
    SELECT
        g.kind,
        g.stage,
        g.device_id,
        count(*) FILTER (g.is_retry) AS retry_count
    FROM (
        SELECT
            d.kind,
            d.stage,
            d.device_id,
            min(d.begun_ns) FILTER (d.is_free) < max(d.begun_ns) FILTER (NOT d.is_free) AS is_retry
        FROM did d
        GROUP BY d.kind, d.stage, d.device_id, d.source_id, d.gap_start_ns, d.pid, d.tid
    ) g
    GROUP BY g.kind, g.stage, g.device_id
), moved AS (
    SELECT
        d.kind,
        d.stage,
        d.device_id,
        coalesce(sum(a.size_bytes) FILTER (a.size_bytes > 0), 0)::BIGINT AS got_bytes,
        coalesce(-sum(a.size_bytes) FILTER (a.size_bytes < 0), 0)::BIGINT AS given_bytes
    FROM cuda_allocation a
    ASOF JOIN did d
        ON d.source_id = a.source_id AND d.device_id = a.device_id AND d.pid = a.pid AND d.begun_ns <= a.time_ns
    WHERE a.run_id = $run AND a.memory LIKE 'Device%' AND a.time_ns < d.end_ns
    GROUP BY d.kind, d.stage, d.device_id
), served AS (
    SELECT m.source_id, m.pid, m.tid, m.device_id, m.time_ns, m.size_bytes
    FROM memory_event m
    WHERE m.run_id = $run AND m.device_type <> 'cpu' AND m.size_bytes > 0
), block AS ( -- of several calls for one block the first
    SELECT
        b.kind,
        b.stage,
        b.device_id,
        sum(b.size_bytes)::BIGINT AS block_bytes
    FROM (
        SELECT DISTINCT
            d.kind,
            d.stage,
            d.device_id,
            s.source_id,
            s.pid,
            s.tid,
            s.time_ns,
            s.size_bytes
        FROM did d
        ASOF JOIN served s
            ON s.source_id = d.source_id
            AND s.device_id = d.device_id
            AND s.pid = d.pid
            AND s.tid = d.tid
            AND d.end_ns <= s.time_ns
        WHERE NOT d.is_free
    ) b
    GROUP BY b.kind, b.stage, b.device_id
)
SELECT r.kind, r.stage, r.device_id, r.retry_count, m.got_bytes, m.given_bytes, b.block_bytes
FROM retry r
LEFT JOIN moved m ON m.kind = r.kind AND m.stage IS NOT DISTINCT FROM r.stage AND m.device_id = r.device_id
LEFT JOIN block b ON b.kind = r.kind AND b.stage IS NOT DISTINCT FROM r.stage AND b.device_id = r.device_id
