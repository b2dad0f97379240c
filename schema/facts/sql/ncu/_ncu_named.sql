-- _ncu_named: Which kernel of a timeline a kernel that Nsight Compute profiled is, by name: the very same name, else the only one with the
--     same shared spelling.
-- grain: one kind of timeline and name of a profiled kernel
-- key: kind, kernel_name_id
-- needs: ncu_launch
-- columns:
--   kind VARCHAR: timeline kind: {timelines}, whether or not the run has it
--   is_counted BOOLEAN: whether it is the counted kind; nsys in a run without a timeline
--   kernel_name_id BIGINT: kernel name as Nsight Compute spells it
--   timeline_name_id BIGINT: name as the timeline spells it; NULL when the timeline has none, or several of the spelling
--   candidate_count BIGINT: names of the timeline that have the spelling

WITH kind AS (
    SELECT
        k.kind,
        k.kind
            = coalesce(
                (SELECT min(t.kind) FROM timeline t WHERE t.run_id = $run AND t.is_counted),
                'nsys'
            ) AS is_counted
    FROM (
        SELECT unnest([{'traced'}]) AS kind
        UNION
        SELECT t.kind
        FROM timeline t
        WHERE t.run_id = $run
    ) k
), t AS (
    SELECT DISTINCT x.kind, w.kernel_name_id, sp.spelling
    FROM work_sum w
    JOIN timeline x ON x.run_id = w.run_id AND x.source_id = w.source_id
    JOIN kernel_spelling sp ON sp.run_id = w.run_id AND sp.kernel_name_id = w.kernel_name_id
    WHERE w.run_id = $run AND w.kind = 'kernel'
), n AS (
    SELECT DISTINCT l.kernel_name_id, sp.spelling
    FROM ncu_launch l
    LEFT JOIN kernel_spelling sp ON sp.run_id = l.run_id AND sp.kernel_name_id = l.kernel_name_id
    WHERE l.run_id = $run AND l.kind = 'kernel'
)
SELECT
    k.kind,
    k.is_counted,
    n.kernel_name_id,
    CASE
        WHEN bool_or(t.kernel_name_id = n.kernel_name_id) THEN n.kernel_name_id
        WHEN count(t.kernel_name_id) = 1 THEN min(t.kernel_name_id)
    END AS timeline_name_id,
    count(t.kernel_name_id) AS candidate_count
FROM n CROSS JOIN kind k LEFT JOIN t ON t.kind = k.kind AND t.spelling = n.spelling
GROUP BY k.kind, k.is_counted, n.kernel_name_id
