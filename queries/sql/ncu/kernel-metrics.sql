-- kernel-metrics v1: Every metric that Nsight Compute measured for kernel launches.
-- grain: one metric of one profiled kernel launch
-- key: launch, metric
-- notes: ncu
-- params:
--   run VARCHAR: the run
--   metric VARCHAR = NULL: only metrics whose name matches this glob (* any text, ? one character); several separated by commas
--   kernel VARCHAR = NULL: only kernels whose name contains this, ignoring case
--   launch BIGINT = NULL: only this launch
--   section VARCHAR = NULL: only metrics in this ncu section, by identifier (SpeedOfLight) or title
--   stage VARCHAR = NULL: only launches in this stage; (none) for launches outside every stage
-- columns:
--   launch: launch number in the run; in a run with one report, ncu's ID
--   kernel: kernel name as Nsight Compute spells it
--   grid: grid size in blocks, x * y * z
--   block: block size in threads, x * y * z
--   metric: ncu metric name
--   value: metric value, in unit; NULL for text
--   unit: ncu base unit (% is 0-100); empty for a plain number, NULL when unknown
--   text: value that is text or not a number (nan)
--   label: label in ncu's sections; NULL when it is in none

WITH picked AS (
    SELECT n.metric_id, n.name, n.unit
    FROM ncu_metric_name n
    WHERE n.run_id = run
        AND _fits(n.name, metric)
        AND (
            section IS NULL
            OR n.metric_id IN (
                SELECT s.metric_id
                FROM ncu_section s
                WHERE s.run_id = run AND (lower(s.section) = lower(section) OR lower(s.title) = lower(section))
            )
        )
), label AS (
    SELECT
        s.metric_id,
        min(s.label) AS label
    FROM ncu_section s
    WHERE s.run_id = run
    GROUP BY s.metric_id
)
SELECT
    _id_number(l.launch_id) - 1 AS launch,
    k.name AS kernel,
    l.grid,
    l.block,
    n.name AS metric,
    m.value,
    n.unit,
    m.text,
    label.label
FROM ncu_metric m
JOIN picked n ON n.metric_id = m.metric_id
JOIN ncu_measure l ON l.run_id = m.run_id AND l.launch_id = m.launch_id
JOIN kernel_name k ON k.run_id = l.run_id AND k.kernel_name_id = l.kernel_name_id
LEFT JOIN label ON label.metric_id = m.metric_id
WHERE m.run_id = run
    AND (launch IS NULL OR _id_number(l.launch_id) - 1 = launch)
    AND (kernel IS NULL OR contains(lower(k.name), lower(kernel)))
    AND (stage IS NULL OR coalesce(l.stage, '(none)') = stage)
ORDER BY l.launch_id, n.name
