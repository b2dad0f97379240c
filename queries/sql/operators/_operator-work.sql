-- _operator-work: Device work of the counted operator sources by operator, and the work outside operators.
-- grain: one operator, or one kind of work outside operators
-- key: operator, is_outside
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only work launched in this stage; (none) for work outside every stage
--   {operator source}
-- columns:
--   operator: operator; outside as in op_work; in key_averages (none) is all that its operators do not have, graph replays too
--   is_outside: whether it is work outside operators
--   work_count: kernels, copies, fills and replays traced as a whole; NULL for key_averages
--   total_ns: sum of the durations

WITH sums AS ( -- the total that PyTorch printed, which a table of the first rows lacks in part, or that of kernels, copies and fills
    SELECT
        c.source_id,
        coalesce(
            (
                SELECT max(f.value::BIGINT)
                FROM source_fact f
                WHERE f.run_id = run AND f.source_id = c.source_id AND f.key = 'printed.self_device_ns'
            ),
            (
                SELECT nullif(sum(a.self_device_ns), 0)
                FROM op_average a
                WHERE a.run_id = run AND a.source_id = c.source_id AND a.kind = 'device'
            )
        )::BIGINT AS total_ns
    FROM _operator_source(run, source := source, "by" := 'name') c
    WHERE c.capture = 'key_averages'
), known AS (
    SELECT
        s.source_id,
        s.operator,
        sum(s.self_device_ns)::BIGINT AS total_ns
    FROM op_sum s
    WHERE s.run_id = run AND s.source_id IN (SELECT t.source_id FROM sums t WHERE t.total_ns IS NOT NULL)
    GROUP BY s.source_id, s.operator
)
SELECT
    coalesce(w.outside, any_value(n.name)) AS operator,
    w.outside IS NOT NULL AS is_outside,
    sum(w.call_count)::BIGINT AS work_count,
    sum(w.total_ns)::BIGINT AS total_ns
FROM op_work w LEFT JOIN op_name n ON n.run_id = w.run_id AND n.op_name_id = w.op_name_id
WHERE w.run_id = run
    AND (stage IS NULL OR w.stage = stage)
    AND w.source_id IN (
        SELECT c.source_id
        FROM _operator_source(run, source := source) c
        WHERE c.capture <> 'key_averages'
    )
GROUP BY w.op_name_id, w.outside
UNION ALL
SELECT k.operator, false, NULL, k.total_ns
FROM known k
UNION ALL
SELECT
    '(none)',
    true,
    NULL,
    t.total_ns - coalesce(k.total_ns, 0)
FROM sums t
LEFT JOIN (
    SELECT
        x.source_id,
        sum(x.total_ns)::BIGINT AS total_ns
    FROM known x
    GROUP BY x.source_id
) k ON k.source_id = t.source_id
WHERE t.total_ns > coalesce(k.total_ns, 0)
