-- top-kernels v4: Kernels of every run by total time, as prof query top-kernels has them of one.
-- grain: one run and kernel name
-- key: run_id, kernel
-- columns:
--   run: name of the run
--   run_id: run id

WITH label AS (
    SELECT
        n.run_id,
        n.kernel_name_id,
        n.name AS kernel,
        c.family,
        c.role,
        min(n.kernel_name_id) OVER (PARTITION BY n.run_id, n.name) AS id
    FROM kernel_name n
    LEFT JOIN kernel_class c ON c.run_id = n.run_id AND c.kernel_name_id = n.kernel_name_id
), h AS (
    SELECT
        l.run_id,
        l.id,
        k.duration_ns,
        CAST(sum(k.launch_count) AS BIGINT) AS calls,
        min(l.family) AS family,
        max(l.family) AS last_family,
        min(l.role) AS role,
        max(l.role) AS last_role
    FROM kernel_duration k
    JOIN timeline s ON s.run_id = k.run_id AND s.source_id = k.source_id AND s.is_counted
    JOIN label l ON l.run_id = k.run_id AND l.kernel_name_id = k.kernel_name_id
    WHERE k.scope = 'measured'
    GROUP BY l.run_id, l.id, k.duration_ns
), d AS (
    SELECT
        h.run_id,
        h.id,
        h.duration_ns,
        h.calls,
        h.family,
        h.last_family,
        h.role,
        h.last_role,
        sum(h.calls) OVER (
            PARTITION BY h.run_id, h.id
            ORDER BY h.duration_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS upto,
        sum(h.calls) OVER (PARTITION BY h.run_id, h.id) AS n
    FROM h
), r AS (
    SELECT
        r.run_id,
        r.kernel_name_id,
        r.report,
        r.item_count,
        r.total_ns,
        r.median_ns,
        r.min_ns,
        r.max_ns,
        r.std_ns,
        min(r.report) OVER (PARTITION BY r.run_id, r.source_id) AS first_report
    FROM reported_sum r
    JOIN timeline s ON s.run_id = r.run_id AND s.source_id = r.source_id AND s.is_counted
    WHERE r.report IN ('kernel', 'kernel_grid')
), t AS (
    SELECT
        d.run_id,
        d.id,
        CAST(sum(d.calls) AS BIGINT) AS calls,
        CAST(sum(d.calls * d.duration_ns) AS BIGINT) AS total_ns,
        {{median "d.duration_ns" "d.upto" "d.n"}} AS median_ns,
        min(d.duration_ns) AS min_ns,
        max(d.duration_ns) AS max_ns,
        {{squares "d.duration_ns" "d.calls"}} AS squares,
        CAST(NULL AS DOUBLE) AS std_ns,
        CASE WHEN min(d.family) IS DISTINCT FROM max(d.last_family) THEN '(several)' ELSE min(d.family) END AS family,
        CASE WHEN min(d.role) IS DISTINCT FROM max(d.last_role) THEN '(several)' ELSE min(d.role) END AS role
    FROM d
    GROUP BY d.run_id, d.id
    UNION ALL
    SELECT
        l.run_id,
        l.id,
        CAST(sum(r.item_count) AS BIGINT),
        CAST(sum(r.total_ns) AS BIGINT),
        CASE WHEN count(*) = 1 THEN min(r.median_ns) END,
        min(r.min_ns),
        max(r.max_ns),
        NULL,
        CASE WHEN count(*) = 1 THEN min(r.std_ns) END,
        CASE WHEN min(l.family) IS DISTINCT FROM max(l.family) THEN '(several)' ELSE min(l.family) END,
        CASE WHEN min(l.role) IS DISTINCT FROM max(l.role) THEN '(several)' ELSE min(l.role) END
    FROM r JOIN label l ON l.run_id = r.run_id AND l.kernel_name_id = r.kernel_name_id
    WHERE r.report = r.first_report
    GROUP BY l.run_id, l.id
)
SELECT
    g.name AS run,
    t.run_id,
    row_number() OVER (PARTITION BY t.run_id ORDER BY t.total_ns DESC, l.kernel) AS rank,
    l.kernel,
    t.calls,
    t.total_ns,
    CAST(t.total_ns AS DOUBLE) / t.calls AS mean_ns,
    t.median_ns,
    t.min_ns,
    t.max_ns,
    CASE WHEN t.squares IS NULL THEN t.std_ns ELSE {{std "t.calls" "t.total_ns" "t.squares"}} END AS std_ns,
    CAST(t.total_ns AS DOUBLE) / nullif(sum(t.total_ns) OVER (PARTITION BY t.run_id), 0) AS share_ratio,
    t.role,
    t.family
FROM t
JOIN label l ON l.run_id = t.run_id AND l.kernel_name_id = t.id
JOIN run g ON g.run_id = t.run_id
