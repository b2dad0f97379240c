-- _collective_time: How long collectives ran within a pass of a stage on a GPU: alone, or while other kernels of the pass ran too. Of
--     passes that launched some.
-- grain: one pass on one GPU, and all kernels of a source on one GPU
-- key: range_id, source_id, device_id
-- needs: collective
-- columns:
--   range_id BIGINT: the pass whose kernels are meant; 0: all kernels of the source
--   source_id INTEGER: the source
--   device_id INTEGER: GPU
--   collective_count BIGINT: number of collectives
--   collective_ns BIGINT: union of their intervals
--   exposed_ns BIGINT: the part of it in which no other kernel of the pass ran
--   overlapped_ns BIGINT: the part of it in which one did

WITH work AS (
    SELECT c.source_id, c.device_id, c.range_context_id, c.start_ns, c.end_ns, true AS is_collective
    FROM collective c
    WHERE c.run_id = $run
    UNION ALL
    SELECT n.source_id, n.device_id, n.range_context_id, n.start_ns, n.end_ns, false
    FROM _collective_near n
), inside AS (
    SELECT x.range_context_id, x.range_id
    FROM range_context x JOIN stage_pass p ON p.run_id = x.run_id AND p.range_id = x.range_id
    WHERE x.run_id = $run
), own AS (
    SELECT i.range_id, w.source_id, w.device_id, w.start_ns, w.end_ns, w.is_collective
    FROM work w JOIN inside i ON i.range_context_id = w.range_context_id
    UNION ALL
    SELECT 0, w.source_id, w.device_id, w.start_ns, w.end_ns, w.is_collective
    FROM work w
), swept AS ( -- what each adds to a union is what lies behind the last end so far
    SELECT
        o.range_id,
        o.source_id,
        o.device_id,
        o.is_collective,
        o.end_ns - greatest(o.start_ns, max(o.end_ns) OVER w) AS any_ns,
        o.end_ns - greatest(o.start_ns, max(CASE WHEN o.is_collective THEN o.end_ns END) OVER w) AS collective_ns,
        o.end_ns - greatest(o.start_ns, max(CASE WHEN NOT o.is_collective THEN o.end_ns END) OVER w) AS other_ns
    FROM own o
    WINDOW w AS (
            PARTITION BY o.range_id, o.source_id, o.device_id
            ORDER BY o.start_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
), summed AS (
    SELECT
        s.range_id,
        s.source_id,
        s.device_id,
        count(*) FILTER (s.is_collective) AS collective_count,
        sum(greatest(s.any_ns, 0))::BIGINT AS any_ns,
        sum(greatest(s.collective_ns, 0)) FILTER (s.is_collective)::BIGINT AS collective_ns,
        coalesce(sum(greatest(s.other_ns, 0)) FILTER (NOT s.is_collective), 0)::BIGINT AS other_ns
    FROM swept s
    GROUP BY s.range_id, s.source_id, s.device_id
)
SELECT
    s.range_id,
    s.source_id,
    s.device_id,
    s.collective_count,
    s.collective_ns,
    s.any_ns - s.other_ns AS exposed_ns,
    s.collective_ns + s.other_ns - s.any_ns AS overlapped_ns
FROM summed s
WHERE s.collective_count > 0
