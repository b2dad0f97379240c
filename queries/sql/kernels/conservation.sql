-- conservation v3: Proof that launch attribution neither loses nor double-counts kernel time: three parts add up to the whole, for each
--     kind of capture, and every launch has its work.
-- grain: one kind of capture of the run
-- key: capture
-- notes: graph launch
-- params:
--   run VARCHAR: the run
-- columns:
--   capture: {timelines}; a run with several has the same work in all of their rows, so they do not add up
--   kernel_count: kernels of the capture
--   kernel_sum_ns: sum of their durations
--   attributed_count: kernels launched inside a range, or in a scope of Proton's
--   attributed_ns: their kernel time
--   outside_count: kernels launched outside every range
--   outside_ns: their kernel time
--   unlaunched_count: kernels without a captured launch
--   unlaunched_ns: their kernel time
--   is_exact: whether the parts add up to the whole, to the kernel and the nanosecond, every range context is known and from the same
--     source, and no launch lacks its work
--   memop_count: copies and fills
--   api_call_count: CUDA API calls
--   range_count: ranges
--   unmet_count: launches without work in the capture; those that failed or were captured into graphs are none
--   is_whole: whether nothing is known to be lost, by losses, but what the capture's beginning and end cut off

WITH src AS (
    SELECT s.source_id, s.kind
    FROM source s
    WHERE s.run_id = run AND s.kind IN ({'traced'})
), g AS ( -- by set of ranges, so that the ranges can be looked up without touching each kernel
    SELECT
        k.source_id,
        k.range_context_id AS context_id,
        CASE WHEN k.range_context_id IS NULL THEN k.path_id > 0 END AS is_in_scope, -- whether it is, where scopes have names alone
        count(*) AS n,
        sum(k.duration_ns)::BIGINT AS ns
    FROM kernel k
    WHERE k.run_id = run
    GROUP BY ALL
), innermost AS (
    SELECT
        n.source_id,
        c.range_context_id,
        count(*) AS ranges
    FROM range_context c JOIN nvtx_range n ON n.run_id = c.run_id AND n.range_id = c.range_id
    WHERE c.run_id = run AND c.is_innermost
    GROUP BY ALL
), part AS (
    SELECT
        src.kind,
        coalesce(sum(g.n * coalesce(i.ranges, g.is_in_scope::INTEGER)), 0)::BIGINT AS in_n,
        coalesce(sum(g.ns * coalesce(i.ranges, g.is_in_scope::INTEGER)), 0)::BIGINT AS in_ns,
        coalesce(sum(g.n) FILTER (g.context_id = 0 OR NOT g.is_in_scope), 0)::BIGINT AS out_n,
        coalesce(sum(g.ns) FILTER (g.context_id = 0 OR NOT g.is_in_scope), 0)::BIGINT AS out_ns,
        coalesce(sum(g.n) FILTER (g.context_id IS NULL AND g.is_in_scope IS NULL), 0)::BIGINT AS lost_n,
        coalesce(sum(g.ns) FILTER (g.context_id IS NULL AND g.is_in_scope IS NULL), 0)::BIGINT AS lost_ns
    FROM src
    LEFT JOIN g ON g.source_id = src.source_id
    LEFT JOIN innermost i ON i.range_context_id = g.context_id AND i.source_id = g.source_id
    GROUP BY src.kind
), row_of AS ( -- rows of each source, without their ranges
    SELECT
        'kernel' AS what,
        g.source_id,
        sum(g.n)::BIGINT AS n,
        sum(g.ns)::BIGINT AS ns
    FROM g
    GROUP BY ALL
    UNION ALL
    SELECT
        'memop',
        m.source_id,
        count(*),
        NULL
    FROM memop m
    WHERE m.run_id = run
    GROUP BY ALL
    UNION ALL
    SELECT
        'api_call',
        a.source_id,
        count(*),
        NULL
    FROM api_call a
    WHERE a.run_id = run
    GROUP BY ALL
    UNION ALL
    SELECT
        'api_call',
        a.source_id,
        sum(a.call_count)::BIGINT,
        NULL
    FROM api_sum a
    WHERE a.run_id = run
    GROUP BY ALL
    UNION ALL
    SELECT
        'range',
        n.source_id,
        count(*),
        NULL
    FROM nvtx_range n
    WHERE n.run_id = run
    GROUP BY ALL
), whole AS (
    SELECT
        src.kind,
        coalesce(sum(r.n) FILTER (r.what = 'kernel'), 0)::BIGINT AS n,
        coalesce(sum(r.ns), 0)::BIGINT AS ns,
        coalesce(sum(r.n) FILTER (r.what = 'memop'), 0)::BIGINT AS memops,
        coalesce(sum(r.n) FILTER (r.what = 'api_call'), 0)::BIGINT AS api_calls,
        coalesce(sum(r.n) FILTER (r.what = 'range'), 0)::BIGINT AS ranges
    FROM src LEFT JOIN row_of r ON r.source_id = src.source_id
    GROUP BY src.kind
), lost AS (
    SELECT
        src.kind,
        coalesce(sum(l.item_count) FILTER (l.kind = 'launches-without-work'), 0)::BIGINT AS unmet,
        count(*) FILTER (NOT l.is_cut) = 0 AS is_whole
    FROM src LEFT JOIN loss l ON l.run_id = run AND l.source_id = src.source_id
    GROUP BY src.kind
)
SELECT
    w.kind AS capture,
    w.n AS kernel_count,
    w.ns AS kernel_sum_ns,
    p.in_n AS attributed_count,
    p.in_ns AS attributed_ns,
    p.out_n AS outside_count,
    p.out_ns AS outside_ns,
    p.lost_n AS unlaunched_count,
    p.lost_ns AS unlaunched_ns,
    p.in_n + p.out_n + p.lost_n = w.n AND p.in_ns + p.out_ns + p.lost_ns = w.ns AND x.unmet = 0 AS is_exact,
    w.memops AS memop_count,
    w.api_calls AS api_call_count,
    w.ranges AS range_count,
    x.unmet AS unmet_count,
    x.is_whole
FROM whole w JOIN part p ON p.kind = w.kind JOIN lost x ON x.kind = w.kind
ORDER BY w.kind
