-- range-kernels v2: Kernels by the ranges that launched them, in every enclosing range, as nsys' nvtx_kern_sum: rows of nested ranges
--     contain the same kernels and do not add up; rows of (none) and of outermost ranges do. Warm-up counts too: it lists what the
--     capture has.
-- grain: one range name, domain and kernel name
-- key: range, domain, kernel
-- notes: graph timelines launch warm raw-names
-- params:
--   run VARCHAR: the run
--   range VARCHAR = NULL: only ranges of this name (normalised, or as recorded with raw)
--   raw BOOLEAN = false: group by the range name as recorded instead of the normalised name; reported sums always are, since ranges of one
--     normalised name may lie within each other. Of a timeline whose kernels name scopes, and that has no ranges, normalised ones are known
--   device BIGINT = NULL: only this GPU
--   top BIGINT = 0: maximum kernels per range; 0 for all
--   {source}
-- columns:
--   range: range name; (none) for kernels launched outside every range, (no launch) when the launch was not captured
--   domain: NVTX domain; empty for the default one
--   kernel: demangled name
--   calls: executions
--   total_ns: sum of the durations
--   mean_ns: mean duration
--   median_ns: median duration
--   min_ns: shortest duration
--   max_ns: longest duration
--   std_ns: sample standard deviation (n-1); NULL for a single call

WITH counted AS (
    SELECT t.source_id
    FROM _timeline(run, source := source) t
), inside AS ( -- a range that encloses itself counts a kernel once
    SELECT DISTINCT m.path_id, a.name, a.domain
    FROM range_path m, unnest(m.lineage) u(ancestor), range_path a
    WHERE m.run_id = run
        AND a.run_id = m.run_id
        AND a.path_id = u.ancestor
        AND (NOT raw OR NOT EXISTS (
            SELECT 1
            FROM nvtx_range n
            WHERE n.run_id = run AND n.source_id IN (SELECT counted.source_id FROM counted)
        ))
        AND ("range" IS NULL OR a.name = "range")
    UNION ALL
    SELECT x.path_id, x.name, ''
    FROM (SELECT 0 AS path_id, '(none)' AS name UNION ALL SELECT NULL, '(no launch)') x
    WHERE "range" IS NULL OR x.name = "range"
), inside_raw AS (
    SELECT DISTINCT c.range_context_id, n.name, n.domain
    FROM range_context c JOIN nvtx_range n ON n.run_id = c.run_id AND n.range_id = c.range_id
    WHERE c.run_id = run
        AND n.source_id IN (SELECT counted.source_id FROM counted)
        AND raw
        AND ("range" IS NULL OR n.name = "range")
), h AS (
    SELECT
        x."range",
        x.domain,
        x.kernel_name_id,
        x.duration_ns,
        sum(x.calls)::BIGINT AS calls
    FROM (
        SELECT
            i.name AS "range",
            i.domain,
            k.kernel_name_id,
            k.duration_ns,
            k.launch_count AS calls
        FROM kernel_duration k JOIN inside i ON i.path_id IS NOT DISTINCT FROM k.path_id
        WHERE k.run_id = run
            AND k.source_id IN (SELECT counted.source_id FROM counted)
            AND (device IS NULL OR k.device_id = device)
        UNION ALL
        SELECT i.name, i.domain, k.kernel_name_id, k.duration_ns, 1
        FROM kernel k JOIN inside_raw i ON i.range_context_id = k.range_context_id
        WHERE raw
            AND k.run_id = run
            AND k.source_id IN (SELECT counted.source_id FROM counted)
            AND (device IS NULL OR k.device_id = device)
    ) x
    GROUP BY x."range", x.domain, x.kernel_name_id, x.duration_ns
), d AS (
    SELECT
        h."range",
        h.domain,
        h.kernel_name_id,
        h.duration_ns,
        h.calls,
        sum(h.calls) OVER (w ROWS UNBOUNDED PRECEDING) AS upto,
        sum(h.calls) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS n
    FROM h
    WINDOW w AS (PARTITION BY h."range", h.domain, h.kernel_name_id ORDER BY h.duration_ns)
), t AS (
    SELECT
        d."range",
        d.domain,
        d.kernel_name_id,
        sum(d.calls)::BIGINT AS calls,
        sum(d.calls * d.duration_ns)::BIGINT AS total_ns,
        min(d.duration_ns) AS min_ns,
        max(d.duration_ns) AS max_ns,
        _counted_median(d.duration_ns, d.upto, d.n) AS median_ns,
        _counted_std(d.duration_ns, d.calls) AS std_ns
    FROM d
    GROUP BY d."range", d.domain, d.kernel_name_id
    UNION ALL
    SELECT
        coalesce(r.name, '(none)'),
        coalesce(r.domain, ''),
        r.kernel_name_id,
        sum(r.item_count)::BIGINT,
        sum(r.total_ns)::BIGINT,
        min(r.min_ns),
        max(r.max_ns),
        _only(r.median_ns),
        _only(r.std_ns)
    FROM reported_sum r
    WHERE r.run_id = run
        AND r.report = 'range_kernel'
        AND device IS NULL
        AND r.source_id IN (SELECT counted.source_id FROM counted)
        AND ("range" IS NULL OR coalesce(r.name, '(none)') = "range")
    GROUP BY coalesce(r.name, '(none)'), coalesce(r.domain, ''), r.kernel_name_id
), q AS (
    SELECT
        t."range",
        t.domain,
        n.name AS kernel,
        t.calls,
        t.total_ns,
        t.total_ns / t.calls AS mean_ns,
        t.median_ns,
        t.min_ns,
        t.max_ns,
        t.std_ns,
        sum(t.total_ns) OVER (PARTITION BY t."range", t.domain) AS range_ns,
        row_number() OVER (PARTITION BY t."range", t.domain ORDER BY t.total_ns DESC, n.name) AS place
    FROM t JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = t.kernel_name_id
)
SELECT
    q."range",
    q.domain,
    q.kernel,
    q.calls,
    q.total_ns,
    q.mean_ns,
    q.median_ns,
    q.min_ns,
    q.max_ns,
    q.std_ns
FROM q
WHERE top = 0 OR q.place <= top
ORDER BY q.range_ns DESC, q."range", q.domain, q.place
