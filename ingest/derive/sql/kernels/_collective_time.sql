-- _collective_time: How long collectives ran within a pass of a stage on a GPU: alone, or while other kernels of the pass ran too. Of passes that launched some.
-- grain: one pass on one GPU, and all kernels of a source on one GPU
-- key: range_id, source_id, device_id
-- needs: kernel
-- columns:
--   range_id BIGINT: the pass whose kernels are meant; 0: all kernels of the source
--   source_id INTEGER: the source
--   device_id INTEGER: GPU
--   collective_count BIGINT: collectives
--   collective_ns BIGINT: union of their intervals
--   exposed_ns BIGINT: the part of it in which no other kernel of the pass ran
--   overlapped_ns BIGINT: the part of it in which one did

-- Without collectives each join with kernel has an empty side, and costs nothing. Of other kernels only those that run at the time of a
-- collective matter; they are found before their ranges, since most captures have none.
WITH name AS (
    SELECT c.kernel_name_id FROM kernel_class c WHERE c.run_id = $run AND c.role = 'collective'
), collective AS (
    SELECT k.source_id, k.device_id, k.range_context_id, k.start_ns, k.start_ns + k.duration_ns AS end_ns
    FROM kernel k JOIN name ON name.kernel_name_id = k.kernel_name_id
    WHERE k.run_id = $run
), upto AS (
    SELECT c.source_id, c.device_id, c.start_ns, max(c.end_ns) OVER (PARTITION BY c.source_id, c.device_id ORDER BY c.start_ns) AS end_ns
    FROM collective c
), other AS ( -- none, unless there are collectives on the GPU
    SELECT k.source_id, k.device_id, k.range_context_id, k.start_ns, k.start_ns + k.duration_ns AS end_ns
    FROM kernel k JOIN (SELECT DISTINCT c.source_id, c.device_id FROM collective c) c ON c.source_id = k.source_id AND c.device_id = k.device_id
    WHERE k.run_id = $run AND k.kernel_name_id NOT IN (SELECT name.kernel_name_id FROM name)
), near AS (
    SELECT o.source_id, o.device_id, o.range_context_id, o.start_ns, o.end_ns
    FROM other o ASOF JOIN upto u ON u.source_id = o.source_id AND u.device_id = o.device_id AND u.start_ns < o.end_ns
    WHERE u.end_ns > o.start_ns
), work AS (
    SELECT c.source_id, c.device_id, c.range_context_id, c.start_ns, c.end_ns, true AS is_collective FROM collective c
    UNION ALL
    SELECT n.source_id, n.device_id, n.range_context_id, n.start_ns, n.end_ns, false FROM near n
), inside AS (
    SELECT x.range_context_id, x.range_id FROM range_context x JOIN stage_pass p ON p.run_id = x.run_id AND p.range_id = x.range_id WHERE x.run_id = $run
), own AS (
    SELECT i.range_id, w.source_id, w.device_id, w.start_ns, w.end_ns, w.is_collective FROM work w JOIN inside i ON i.range_context_id = w.range_context_id
    UNION ALL
    SELECT 0, w.source_id, w.device_id, w.start_ns, w.end_ns, w.is_collective FROM work w
), swept AS ( -- what each adds to a union is what lies behind the last end so far
    SELECT o.range_id, o.source_id, o.device_id, o.is_collective, o.end_ns - greatest(o.start_ns, max(o.end_ns) OVER w) AS any_ns,
        o.end_ns - greatest(o.start_ns, max(CASE WHEN o.is_collective THEN o.end_ns END) OVER w) AS collective_ns,
        o.end_ns - greatest(o.start_ns, max(CASE WHEN NOT o.is_collective THEN o.end_ns END) OVER w) AS other_ns
    FROM own o
    WINDOW w AS (PARTITION BY o.range_id, o.source_id, o.device_id ORDER BY o.start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), summed AS (
    SELECT s.range_id, s.source_id, s.device_id, count(*) FILTER (s.is_collective) AS collective_count, sum(greatest(s.any_ns, 0))::BIGINT AS any_ns,
        sum(greatest(s.collective_ns, 0)) FILTER (s.is_collective)::BIGINT AS collective_ns, coalesce(sum(greatest(s.other_ns, 0)) FILTER (NOT s.is_collective), 0)::BIGINT AS other_ns
    FROM swept s
    GROUP BY s.range_id, s.source_id, s.device_id
)
SELECT s.range_id, s.source_id, s.device_id, s.collective_count, s.collective_ns, s.any_ns - s.other_ns AS exposed_ns, s.collective_ns + s.other_ns - s.any_ns AS overlapped_ns
FROM summed s
WHERE s.collective_count > 0
