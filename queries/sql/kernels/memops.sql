-- memops v2: Memory copies and fills by operation, as nsys' cuda_gpu_mem_time_sum and cuda_gpu_mem_size_sum together.
-- grain: one operation
-- key: operation
-- notes: graph timelines warm
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only operations issued in this stage; (none) for those outside every stage
--   device BIGINT = NULL: only this GPU
--   source VARCHAR = NULL: only this kind of capture: nsys, prof, rocprof, torch or xla; default: the first of these that the run has
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
--   rate_bytes_per_s: total_bytes / time of the same executions; NULL when no time was measured
--   unsized_count: executions without a recorded size

WITH t AS (
    SELECT m.operation, count(*) AS calls, sum(m.duration_ns)::BIGINT AS total_ns, avg(m.duration_ns) AS mean_ns, median(m.duration_ns) AS median_ns,
        min(m.duration_ns) AS min_ns, max(m.duration_ns) AS max_ns, _std(m.duration_ns) AS std_ns,
        sum(m.size_bytes)::BIGINT AS total_bytes, avg(m.size_bytes) AS mean_bytes, median(m.size_bytes) AS median_bytes,
        min(m.size_bytes) AS min_bytes, max(m.size_bytes) AS max_bytes, _std(m.size_bytes) AS std_bytes,
        sum(m.duration_ns) FILTER (m.size_bytes IS NOT NULL)::BIGINT AS sized_ns, count(*) - count(m.size_bytes) AS unsized_count
    FROM memop m
    LEFT JOIN path_stage s ON s.run_id = m.run_id AND s.path_id = m.path_id
    WHERE m.run_id = run AND m.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t) AND (device IS NULL OR m.device_id = device)
        AND (stage IS NULL OR coalesce(s.stage, '(none)') = stage)
    GROUP BY m.operation
)
SELECT t.operation, t.calls, t.total_ns, t.mean_ns, t.median_ns, t.min_ns, t.max_ns, t.std_ns,
    t.total_ns / nullif((SELECT sum(x.total_ns) FROM t x), 0) AS share_ratio,
    t.total_bytes, t.mean_bytes, t.median_bytes, t.min_bytes, t.max_bytes, t.std_bytes, t.total_bytes / nullif(t.sized_ns / 1e9, 0) AS rate_bytes_per_s,
    t.unsized_count
FROM t
ORDER BY t.total_ns DESC, t.operation
