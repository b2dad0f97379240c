-- osrt-calls v2: Calls of operating system libraries by function, as nsys' osrt_sum; from a timeline stored with `prof ingest --with-osrt`,
--     else from sums of nsys stats. Warm-up counts too: most threads that call the operating system run no pass.
-- grain: one function
-- key: call
-- notes: timelines warm recorded
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: maximum rows; 0 for all
--   {source}
-- columns:
--   rank: rank by total time
--   call: function
--   calls: calls
--   total_ns: sum of the call times
--   mean_ns: mean time
--   median_ns: median time
--   min_ns: shortest
--   max_ns: longest
--   std_ns: sample standard deviation (n-1); NULL for a single call
--   share_ratio: total_ns as a share of all rows, before top applies

WITH counted AS (
    SELECT t.source_id, t.kind
    FROM _timeline_having(
        run,
        ids := (SELECT list(DISTINCT o.source_id) FROM osrt_call o WHERE o.run_id = run),
        source := source
    ) t
), t AS (
    SELECT
        o.api_name_id,
        count(*) AS calls,
        sum(o.duration_ns)::BIGINT AS total_ns,
        avg(o.duration_ns) AS mean_ns,
        median(o.duration_ns) AS median_ns,
        min(o.duration_ns) AS min_ns,
        max(o.duration_ns) AS max_ns,
        _std(o.duration_ns) AS std_ns
    FROM osrt_call o
    WHERE o.run_id = run AND o.source_id IN (SELECT c.source_id FROM counted c)
    GROUP BY o.api_name_id
    UNION ALL
    SELECT
        r.api_name_id,
        sum(r.item_count)::BIGINT,
        sum(r.total_ns)::BIGINT,
        sum(r.total_ns) / sum(r.item_count),
        _only(r.median_ns),
        min(r.min_ns),
        max(r.max_ns),
        _only(r.std_ns)
    FROM reported_sum r
    WHERE r.run_id = run
        AND r.report = 'osrt_call' -- without a timeline's calls those next to it
        AND (
            r.source_id IN (SELECT c.source_id FROM counted c)
            OR coalesce(source, 'nsys-stats') = 'nsys-stats'
            AND NOT EXISTS (
                SELECT 1
                FROM osrt_call o
                WHERE o.run_id = run AND o.source_id IN (SELECT c.source_id FROM counted c)
            )
        )
    GROUP BY r.api_name_id
), q AS (
    SELECT
        row_number() OVER (ORDER BY t.total_ns DESC, n.name) AS rank,
        n.name AS "call",
        t.calls,
        t.total_ns,
        t.mean_ns,
        t.median_ns,
        t.min_ns,
        t.max_ns,
        t.std_ns,
        t.total_ns / nullif((SELECT sum(x.total_ns) FROM t x), 0) AS share_ratio
    FROM t JOIN api_name n ON n.run_id = run AND n.api_name_id = t.api_name_id
)
SELECT
    q.rank,
    q."call",
    q.calls,
    q.total_ns,
    q.mean_ns,
    q.median_ns,
    q.min_ns,
    q.max_ns,
    q.std_ns,
    q.share_ratio
FROM q
WHERE top = 0 OR q.rank <= top
ORDER BY q.rank
