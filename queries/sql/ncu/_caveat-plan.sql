-- _caveat-plan: Kernels, among those that take the most time, that Nsight Compute cannot select exactly or replay.
-- grain: one caveat, as in the table caveat
-- key: kind, object
-- params:
--   run VARCHAR: the run
--   top BIGINT = 10: kernels considered; 0 for all
-- columns:
--   kind: what it says
--   object: what else it names
--   item_count: how many

WITH spent AS (
    SELECT
        w.kernel_name_id,
        sum(w.sum_ns) AS ns
    FROM work_sum w JOIN timeline t ON t.run_id = w.run_id AND t.source_id = w.source_id
    WHERE w.run_id = run AND w.kind = 'kernel' AND t.is_counted AND t.kind NOT IN ('torch', {'summed'})
    GROUP BY w.kernel_name_id
), named AS (
    SELECT
        n.short_name,
        EXISTS (
            SELECT 1
            FROM kernel_class c
            WHERE c.run_id = run AND c.kernel_name_id = x.kernel_name_id AND c.role = 'collective'
        ) AS waits,
        row_number() OVER (ORDER BY x.ns DESC, n.name) AS place,
        (
            SELECT count(*)
            FROM kernel_symbol y
            WHERE y.run_id = run AND y.kernel_name_id = x.kernel_name_id
        ) AS symbols
    FROM spent x JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = x.kernel_name_id
), lacking AS (
    SELECT
        CASE
            WHEN n.waits THEN 'kernels-that-wait'
            WHEN NOT EXISTS (SELECT 1 FROM kernel_symbol y WHERE y.run_id = run) THEN 'no-symbols'
            WHEN n.symbols = 0 THEN 'kernels-without-symbol'
            ELSE 'kernels-of-several-symbols'
        END AS kind,
        n.short_name
    FROM named n
    WHERE (n.waits OR n.symbols <> 1) AND (top = 0 OR n.place <= top)
)
SELECT
    l.kind,
    l.short_name AS object,
    count(*) AS item_count
FROM lacking l
GROUP BY l.kind, l.short_name
UNION ALL BY NAME
SELECT 'no-timeline-to-plan-from' AS kind
WHERE NOT EXISTS (SELECT 1 FROM source s WHERE s.run_id = run AND s.kind IN ({'callers'}))
    AND EXISTS (SELECT 1 FROM run r WHERE r.run_id = run)
