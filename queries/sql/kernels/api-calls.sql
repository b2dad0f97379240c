-- api-calls v2: CUDA API calls by function, as nsys' cuda_api_sum.
-- grain: one function
-- key: api
-- notes: timelines warm
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: maximum rows; 0 for all
--   stage VARCHAR = NULL: only calls in this stage; (none) for calls outside every stage
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; default: nsys if the run has both
-- columns:
--   rank: rank by total time
--   api: API function
--   calls: calls
--   total_ns: sum of the call times
--   mean_ns: mean time
--   median_ns: median time
--   min_ns: shortest
--   max_ns: longest
--   std_ns: sample standard deviation (n-1); NULL for a single call
--   share_ratio: total_ns as a share of all rows, before top applies
--   failed_count: calls that returned an error; NULL when results were not recorded

WITH staged AS (
    SELECT DISTINCT c.range_context_id FROM range_context c JOIN path_stage s ON s.run_id = c.run_id AND s.path_id = c.path_id
    WHERE c.run_id = run AND s.stage IS NOT NULL AND (stage = '(none)' OR s.stage = stage)
), t AS (
    SELECT a.api_name_id, count(*) AS calls, sum(a.duration_ns)::BIGINT AS total_ns, avg(a.duration_ns) AS mean_ns, median(a.duration_ns) AS median_ns,
        min(a.duration_ns) AS min_ns, max(a.duration_ns) AS max_ns, _std(a.duration_ns) AS std_ns,
        CASE WHEN count(a.return_value) > 0 THEN count(*) FILTER (a.return_value <> 0) END AS failed_count
    FROM api_call a
    WHERE a.run_id = run AND a.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND (stage IS NULL OR (stage = '(none)') <> (a.range_context_id IN (SELECT staged.range_context_id FROM staged)))
    GROUP BY a.api_name_id
), q AS (
    SELECT row_number() OVER (ORDER BY t.total_ns DESC, n.name) AS rank, n.name AS api, t.calls, t.total_ns, t.mean_ns, t.median_ns, t.min_ns, t.max_ns,
        t.std_ns, t.total_ns / nullif((SELECT sum(x.total_ns) FROM t x), 0) AS share_ratio, t.failed_count
    FROM t JOIN api_name n ON n.run_id = run AND n.api_name_id = t.api_name_id
)
SELECT q.rank, q.api, q.calls, q.total_ns, q.mean_ns, q.median_ns, q.min_ns, q.max_ns, q.std_ns, q.share_ratio, q.failed_count
FROM q
WHERE top = 0 OR q.rank <= top
ORDER BY q.rank
