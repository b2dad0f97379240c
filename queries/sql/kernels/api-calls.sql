-- api-calls v2: CUDA API calls by function, as nsys' cuda_api_sum. Warm-up counts too: short calls are stored by duration and range, not
--     by pass.
-- grain: one function
-- key: api
-- notes: timelines warm recorded
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: maximum rows; 0 for all
--   stage VARCHAR = NULL: only calls in this stage; (none) for calls outside every stage
--   {source}
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
    SELECT DISTINCT c.range_context_id
    FROM range_context c JOIN path_stage s ON s.run_id = c.run_id AND s.path_id = c.path_id
    WHERE c.run_id = run AND s.stage IS NOT NULL AND (stage = '(none)' OR s.stage = stage)
), counted AS (
    SELECT t.source_id
    FROM _timeline(run, source := source) t
), h AS ( -- calls by exact duration: those with rows, and the short ones, which are stored so
    SELECT
        x.api_name_id,
        x.duration_ns,
        sum(x.calls)::BIGINT AS calls,
        sum(x.results)::BIGINT AS results,
        sum(x.failures)::BIGINT AS failures
    FROM (
        SELECT
            a.api_name_id,
            a.duration_ns,
            count(*) AS calls,
            count(a.return_value) AS results,
            count(*) FILTER (a.return_value <> 0) AS failures
        FROM api_call a
        WHERE a.run_id = run
            AND a.source_id IN (SELECT t.source_id FROM counted t)
            AND (
                stage IS NULL
                OR (stage = '(none)') <> (a.range_context_id IN (SELECT staged.range_context_id FROM staged))
            )
        GROUP BY a.api_name_id, a.duration_ns
        UNION ALL
        SELECT
            d.api_name_id,
            d.duration_ns,
            d.call_count,
            CASE WHEN d.has_result THEN d.call_count ELSE 0 END,
            0
        FROM api_duration d LEFT JOIN path_stage s ON s.run_id = d.run_id AND s.path_id = d.path_id
        WHERE d.run_id = run
            AND d.source_id IN (SELECT t.source_id FROM counted t)
            AND (stage IS NULL OR coalesce(s.stage, '(none)') = stage)
    ) x
    GROUP BY x.api_name_id, x.duration_ns
), d AS (
    SELECT
        h.api_name_id,
        h.duration_ns,
        h.calls,
        h.results,
        h.failures,
        sum(h.calls) OVER (w ROWS UNBOUNDED PRECEDING) AS upto,
        sum(h.calls) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS n
    FROM h
    WINDOW w AS (PARTITION BY h.api_name_id ORDER BY h.duration_ns)
), t AS (
    SELECT
        d.api_name_id,
        sum(d.calls)::BIGINT AS calls,
        sum(d.calls * d.duration_ns)::BIGINT AS total_ns,
        sum(d.calls * d.duration_ns) / sum(d.calls) AS mean_ns,
        _counted_median(d.duration_ns, d.upto, d.n) AS median_ns,
        min(d.duration_ns) AS min_ns,
        max(d.duration_ns) AS max_ns,
        _counted_std(d.duration_ns, d.calls) AS std_ns,
        CASE WHEN sum(d.results) > 0 THEN sum(d.failures)::BIGINT END AS failed_count
    FROM d
    GROUP BY d.api_name_id
    UNION ALL -- reported sums do not know the stage
    SELECT
        r.api_name_id,
        sum(r.item_count)::BIGINT,
        sum(r.total_ns)::BIGINT,
        sum(r.total_ns) / sum(r.item_count),
        _only(r.median_ns),
        min(r.min_ns),
        max(r.max_ns),
        _only(r.std_ns),
        NULL
    FROM reported_sum r
    WHERE r.run_id = run
        AND r.report = 'api_call'
        AND stage IS NULL
        AND r.source_id IN (SELECT t.source_id FROM counted t)
    GROUP BY r.api_name_id
), q AS (
    SELECT
        row_number() OVER (ORDER BY t.total_ns DESC, n.name) AS rank,
        n.name AS api,
        t.calls,
        t.total_ns,
        t.mean_ns,
        t.median_ns,
        t.min_ns,
        t.max_ns,
        t.std_ns,
        t.total_ns / nullif((SELECT sum(x.total_ns) FROM t x), 0) AS share_ratio,
        t.failed_count
    FROM t JOIN api_name n ON n.run_id = run AND n.api_name_id = t.api_name_id
)
SELECT
    q.rank,
    q.api,
    q.calls,
    q.total_ns,
    q.mean_ns,
    q.median_ns,
    q.min_ns,
    q.max_ns,
    q.std_ns,
    q.share_ratio,
    q.failed_count
FROM q
WHERE top = 0 OR q.rank <= top
ORDER BY q.rank
