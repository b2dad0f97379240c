-- conservation v1: Proof that launch attribution neither loses nor doubles kernel time: the three parts add up to the whole.
-- grain: one run
-- key: none
-- notes: graph
-- params:
--   run VARCHAR: the run
-- columns:
--   kernel_count: kernels of the run
--   kernel_sum_ns: sum of their execution times
--   attributed_count: kernels launched inside a range
--   attributed_ns: their time
--   outside_count: kernels launched outside every range
--   outside_ns: their time
--   unlaunched_count: kernels whose launch the capture does not hold
--   unlaunched_ns: their time
--   is_exact: whether the parts add up to the whole, kernel for kernel and to the nanosecond, and each enclosing set of ranges is known

WITH g AS ( -- by set of ranges, so that the ranges can be looked up without touching each kernel
    SELECT k.range_context_id AS context_id, count(*) AS n, sum(k.duration_ns)::BIGINT AS ns
    FROM kernel k WHERE k.run_id = _run_id_v1(run) GROUP BY ALL
), innermost AS (
    SELECT c.range_context_id, count(*) AS ranges FROM range_context c
    WHERE c.run_id = _run_id_v1(run) AND c.is_innermost GROUP BY ALL
), part AS (
    SELECT coalesce(sum(g.n * i.ranges), 0)::BIGINT AS in_n, coalesce(sum(g.ns * i.ranges), 0)::BIGINT AS in_ns,
        coalesce(sum(g.n) FILTER (g.context_id = 0), 0)::BIGINT AS out_n, coalesce(sum(g.ns) FILTER (g.context_id = 0), 0)::BIGINT AS out_ns,
        coalesce(sum(g.n) FILTER (g.context_id IS NULL), 0)::BIGINT AS lost_n, coalesce(sum(g.ns) FILTER (g.context_id IS NULL), 0)::BIGINT AS lost_ns
    FROM g LEFT JOIN innermost i ON i.range_context_id = g.context_id
), whole AS (
    SELECT count(*) AS n, coalesce(sum(k.duration_ns), 0)::BIGINT AS ns FROM kernel k WHERE k.run_id = _run_id_v1(run)
)
SELECT w.n AS kernel_count, w.ns AS kernel_sum_ns, p.in_n AS attributed_count, p.in_ns AS attributed_ns, p.out_n AS outside_count, p.out_ns AS outside_ns,
    p.lost_n AS unlaunched_count, p.lost_ns AS unlaunched_ns, p.in_n + p.out_n + p.lost_n = w.n AND p.in_ns + p.out_ns + p.lost_ns = w.ns AS is_exact
FROM whole w, part p
WHERE _run_id_v1(run) IN (SELECT r.run_id FROM run r)
