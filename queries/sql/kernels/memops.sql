-- memops v3: Memory copies and fills by operation, as nsys' cuda_gpu_mem_time_sum and cuda_gpu_mem_size_sum together.
-- grain: one operation
-- key: operation
-- notes: graph timelines sizes left-copies launch recorded
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only operations issued in this stage; (none) for those outside every stage
--   device BIGINT = NULL: only this GPU
--   warmup BOOLEAN = false: count warm-up passes too, and what is outside stages
--   {source}
-- columns:
--   operation: memcpy and its direction, or memset
--   calls: executions
--   total_ns: sum of the durations
--   mean_ns: mean duration
--   median_ns: median duration
--   min_ns: shortest
--   max_ns: longest
--   std_ns: sample standard deviation (n-1) of the durations; NULL for a single one
--   share_ratio: total_ns as a share of all rows
--   total_bytes: bytes copied or set; this and the other byte columns cover executions with a recorded size; NULL when none has one
--   mean_bytes: mean size
--   median_bytes: median size
--   min_bytes: smallest
--   max_bytes: largest
--   std_bytes: sample standard deviation (n-1) of the sizes; NULL for a single one
--   rate_bytes_per_s: total_bytes / time of the same executions; NULL when no time was measured, or when total_bytes is rounded to fewer
--     than three digits
--   unsized_count: executions without a recorded size

WITH t AS (
    SELECT
        m.operation,
        count(*) AS calls,
        sum(m.duration_ns)::BIGINT AS total_ns,
        avg(m.duration_ns) AS mean_ns,
        median(m.duration_ns) AS median_ns,
        min(m.duration_ns) AS min_ns,
        max(m.duration_ns) AS max_ns,
        _std(m.duration_ns) AS std_ns,
        sum(m.size_bytes)::BIGINT AS total_bytes,
        avg(m.size_bytes) AS mean_bytes,
        median(m.size_bytes) AS median_bytes,
        min(m.size_bytes) AS min_bytes,
        max(m.size_bytes) AS max_bytes,
        _std(m.size_bytes) AS std_bytes,
        sum(m.duration_ns) FILTER (m.size_bytes IS NOT NULL)::BIGINT AS sized_ns,
        count(*) - count(m.size_bytes) AS unsized_count
    FROM _ranked_copy(run, stage := stage, device := device, warmup := warmup, source := source) m
    WHERE NOT m.is_left
    GROUP BY m.operation
), reported AS ( -- they know neither stage nor GPU
    SELECT
        r.name AS operation,
        sum(r.item_count) FILTER (r.report = 'memory_time')::BIGINT AS timed,
        sum(r.item_count) FILTER (r.report = 'memory_size')::BIGINT AS sized,
        count(*) FILTER (r.report = 'memory_time') AS time_rows,
        count(*) FILTER (r.report = 'memory_size') AS size_rows,
        sum(r.total_ns)::BIGINT AS total_ns,
        max(r.mean_ns) AS mean_ns,
        max(r.median_ns) AS median_ns,
        min(r.min_ns) AS min_ns,
        max(r.max_ns) AS max_ns,
        max(r.std_ns) AS std_ns,
        sum(r.total_bytes)::BIGINT AS total_bytes,
        count(r.total_bytes) AS known_bytes,
        max(r.mean_bytes) AS mean_bytes,
        max(r.median_bytes) AS median_bytes,
        min(r.min_bytes) AS min_bytes,
        max(r.max_bytes) AS max_bytes,
        max(r.std_bytes) AS std_bytes,
        max(r.step_bytes) AS step_bytes
    FROM reported_sum r
    WHERE r.run_id = run
        AND r.report IN ('memory_time', 'memory_size')
        AND stage IS NULL
        AND device IS NULL
        AND r.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
    GROUP BY r.name
), whole AS (
    SELECT
        t.operation,
        t.calls,
        t.total_ns,
        t.mean_ns,
        t.median_ns,
        t.min_ns,
        t.max_ns,
        t.std_ns,
        t.total_bytes,
        t.mean_bytes,
        t.median_bytes,
        t.min_bytes,
        t.max_bytes,
        t.std_bytes,
        t.sized_ns,
        t.unsized_count
    FROM t
    -- sizes that are known to thousands of bytes add up to more than their means; of several sources medians and deviations are not known
    UNION ALL
    SELECT
        r.operation,
        coalesce(r.timed, r.sized),
        r.total_ns,
        r.total_ns / r.timed,
        CASE WHEN r.time_rows = 1 THEN r.median_ns END,
        r.min_ns,
        r.max_ns,
        CASE WHEN r.time_rows = 1 THEN r.std_ns END,
        CASE WHEN r.known_bytes = r.size_rows THEN r.total_bytes END,
        CASE WHEN r.size_rows = 1 THEN r.mean_bytes END,
        CASE WHEN r.size_rows = 1 THEN r.median_bytes END,
        CASE WHEN r.size_rows = 1 THEN r.min_bytes END,
        r.max_bytes,
        CASE WHEN r.size_rows = 1 THEN r.std_bytes END,
        CASE WHEN r.timed = r.sized AND r.total_bytes >= 100 * r.step_bytes THEN r.total_ns END,
        coalesce(r.timed, r.sized) - coalesce(r.sized, 0)
    FROM reported r
)
SELECT
    t.operation,
    t.calls,
    t.total_ns,
    t.mean_ns,
    t.median_ns,
    t.min_ns,
    t.max_ns,
    t.std_ns,
    t.total_ns / nullif((SELECT sum(x.total_ns) FROM whole x), 0) AS share_ratio,
    t.total_bytes,
    t.mean_bytes,
    t.median_bytes,
    t.min_bytes,
    t.max_bytes,
    t.std_bytes,
    t.total_bytes / nullif(t.sized_ns / 1e9, 0) AS rate_bytes_per_s,
    t.unsized_count
FROM whole t
ORDER BY t.total_ns DESC NULLS LAST, t.operation
