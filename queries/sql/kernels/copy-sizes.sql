-- copy-sizes v2: Bandwidth of memory copies and fills by direction, kinds of memory and size: pageable against pinned, and small ones that
--     never reach the link's rate.
-- grain: one operation, source and target memory and class of sizes
-- key: operation, source_memory, target_memory, from_bytes
-- notes: graph timelines sizes left-copies launch recorded
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only operations issued in this stage; (none) for those outside every stage
--   device BIGINT = NULL: only this GPU
--   warmup BOOLEAN = false: count warm-up passes too, and what is outside stages
--   {source}
-- columns:
--   operation: memcpy and its direction, or memset
--   source_memory: kind of memory copied from: Pageable, Pinned, Device, ...; NULL when not recorded, and for fills
--   target_memory: kind of memory copied to or filled; NULL when not recorded
--   from_bytes: smallest size of the class: a power of 4, or 0; NULL for executions without a recorded size
--   calls: executions
--   total_ns: sum of the durations
--   share_ratio: total_ns as a share of all rows
--   total_bytes: bytes copied or set; NULL when not recorded
--   rate_bytes_per_s: total_bytes / total_ns
--   rate_median_bytes_per_s: median of the rates of single executions
--   rate_max_bytes_per_s: highest rate of one execution
--   mean_ns: mean duration
--   median_ns: median duration
--   max_ns: longest

WITH m AS (
    SELECT
        m.operation,
        m.src_memory AS source_memory,
        m.dst_memory AS target_memory,
        CASE
            WHEN m.size_bytes > 0 THEN 1::BIGINT << (((length(bin(m.size_bytes)) - 1) // 2 * 2)::INTEGER)
            WHEN m.size_bytes = 0 THEN 0
        END AS from_bytes,
        m.duration_ns,
        m.size_bytes,
        m.size_bytes / nullif(m.duration_ns, 0) * 1e9 AS rate
    FROM _ranked_copy(run, stage := stage, device := device, warmup := warmup, source := source) m
    WHERE NOT m.is_left
), t AS (
    SELECT
        m.operation,
        m.source_memory,
        m.target_memory,
        m.from_bytes,
        count(*) AS calls,
        sum(m.duration_ns)::BIGINT AS total_ns,
        sum(m.size_bytes)::BIGINT AS total_bytes,
        median(m.rate) AS rate_median,
        max(m.rate) AS rate_max,
        avg(m.duration_ns) AS mean_ns,
        median(m.duration_ns) AS median_ns,
        max(m.duration_ns) AS max_ns
    FROM m
    GROUP BY m.operation, m.source_memory, m.target_memory, m.from_bytes
)
SELECT
    t.operation,
    t.source_memory,
    t.target_memory,
    t.from_bytes,
    t.calls,
    t.total_ns,
    t.total_ns / nullif((SELECT sum(x.total_ns) FROM t x), 0) AS share_ratio,
    t.total_bytes,
    t.total_bytes / nullif(t.total_ns, 0) * 1e9 AS rate_bytes_per_s,
    t.rate_median AS rate_median_bytes_per_s,
    t.rate_max AS rate_max_bytes_per_s,
    t.mean_ns,
    t.median_ns,
    t.max_ns
FROM t
ORDER BY t.total_ns DESC, t.operation, t.source_memory, t.target_memory, t.from_bytes
