-- _timeline-size: How much a timeline of one source draws, and from when to when: a part of it for what begins, which is no more than the
--     rows of its tables.
-- grain: one row
-- key: none
-- params:
--   run VARCHAR: the run
--   of_source BIGINT = 1: the source
-- columns:
--   start_ns: first start of device work, calls, ranges and operators; NULL without any
--   end_ns: last start of them
--   item_count: how many there are

SELECT
    min(x.first_ns) AS start_ns,
    max(x.last_ns) AS end_ns,
    sum(x.item_count)::BIGINT AS item_count
FROM (
    SELECT
        min(k.start_ns) AS first_ns,
        max(k.start_ns) AS last_ns,
        count(*) AS item_count
    FROM kernel k
    WHERE k.run_id = run AND k.source_id = of_source
    UNION ALL
    SELECT
        min(m.start_ns),
        max(m.start_ns),
        count(*)
    FROM memop m
    WHERE m.run_id = run AND m.source_id = of_source
    UNION ALL
    SELECT
        min(g.start_ns),
        max(g.start_ns),
        count(*)
    FROM graph_launch g
    WHERE g.run_id = run AND g.source_id = of_source
    UNION ALL
    SELECT
        min(a.start_ns),
        max(a.start_ns),
        count(*)
    FROM api_call a
    WHERE a.run_id = run AND a.source_id = of_source
    UNION ALL
    SELECT
        min(l.start_ns),
        max(l.start_ns),
        count(*)
    FROM library_call l
    WHERE l.run_id = run AND l.source_id = of_source
    UNION ALL
    SELECT
        min(o.start_ns),
        max(o.start_ns),
        count(*)
    FROM osrt_call o
    WHERE o.run_id = run AND o.source_id = of_source
    UNION ALL
    SELECT
        min(n.start_ns),
        max(n.start_ns),
        count(*)
    FROM nvtx_range n
    WHERE n.run_id = run AND n.source_id = of_source
    UNION ALL
    SELECT
        min(o.start_ns),
        max(o.start_ns),
        count(*)
    FROM op o
    WHERE o.run_id = run AND o.source_id = of_source
    UNION ALL
    SELECT
        min(y.start_ns),
        max(y.start_ns),
        count(*)
    FROM python_call y
    WHERE y.run_id = run AND y.source_id = of_source
) x
