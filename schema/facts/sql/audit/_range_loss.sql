-- _range_loss: Ranges whose device work is not all known, or has times that cannot be.
-- grain: one range
-- key: range_id
-- needs: loss
-- columns:
--   range_id BIGINT: the range
--   item_count BIGINT: launches without work, and pieces of work

WITH place AS (
    SELECT
        u.range_context_id,
        u.call_count AS n
    FROM _unmet u
    UNION ALL
    SELECT f.range_context_id, f.work_count
    FROM work_fault f
    WHERE f.run_id = $run AND f.range_context_id IS NOT NULL AND f.kind <> 'early-starts'
    UNION ALL
    SELECT r.range_context_id, r.item_count
    FROM _lost_replay r
), spread AS ( -- work whose launch is lost may be of any range of its process that was open, or whose work ran, just then
    SELECT
        r.range_id,
        f.work_count AS n
    FROM work_fault f
    JOIN nvtx_range r
        ON r.run_id = f.run_id
        AND r.source_id = f.source_id
        AND (f.pid IS NULL OR r.pid = f.pid)
        AND r.start_ns <= f.last_start_ns
    LEFT JOIN range_device d ON d.run_id = f.run_id AND d.range_id = r.range_id AND d.device_id = f.device_id
    WHERE f.run_id = $run
        AND (
            f.kind = 'launched-before-capture'
            OR f.kind = 'work-without-launch'
            AND f.source_id IN (
                SELECT l.source_id
                FROM loss l
                WHERE l.run_id = $run AND l.kind = 'work-without-launch'
            )
        )
        AND (r.duration_ns IS NULL OR greatest(r.start_ns + r.duration_ns, d.last_end_ns) >= f.first_start_ns)
)
SELECT
    q.range_id,
    sum(q.n)::BIGINT AS item_count
FROM (
    SELECT c.range_id, p.n
    FROM place p JOIN range_context c ON c.run_id = $run AND c.range_context_id = p.range_context_id
    UNION ALL
    SELECT s.range_id, s.n
    FROM spread s
) q
GROUP BY q.range_id
