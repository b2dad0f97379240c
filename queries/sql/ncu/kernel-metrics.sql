-- kernel-metrics v1: Every metric that Nsight Compute measured of kernel launches.
-- grain: one metric of one profiled kernel launch
-- key: launch, metric
-- notes: ncu
-- params:
--   run VARCHAR: the run
--   metric VARCHAR = NULL: only metrics whose name fits this glob (* any text, ? one character); several with commas between
--   kernel VARCHAR = NULL: only kernels whose name contains this, case ignored
--   launch BIGINT = NULL: only this launch
--   section VARCHAR = NULL: only metrics that ncu shows in this section, by identifier (SpeedOfLight) or title
--   stage VARCHAR = NULL: only launches in this stage; (none) for those outside every stage
-- columns:
--   launch: number of the launch in the run; of a run with one report, ncu's ID
--   kernel: name as ncu spells it
--   grid: blocks, x * y * z
--   block: threads of a block, x * y * z
--   metric: ncu's name of the metric
--   value: the value in the unit next to it; NULL for a text
--   unit: ncu's base unit (% is 0-100); empty for a plain number, NULL when not known
--   text: the value when it is a text or no number (nan)
--   label: what ncu calls it in its sections; NULL when in none

WITH picked AS (
    SELECT n.metric_id, n.name, n.unit FROM ncu_metric_name n
    WHERE n.run_id = run AND _fits(n.name, metric)
        AND (section IS NULL OR n.metric_id IN (SELECT s.metric_id FROM ncu_section s WHERE s.run_id = run AND (lower(s.section) = lower(section) OR lower(s.title) = lower(section))))
), label AS (
    SELECT s.metric_id, min(s.label) AS label FROM ncu_section s WHERE s.run_id = run GROUP BY s.metric_id
)
SELECT _id_number(l.launch_id) - 1 AS launch, l.kernel, l.grid, l.block, n.name AS metric, m.value, n.unit, m.text, label.label
FROM ncu_metric m
JOIN picked n ON n.metric_id = m.metric_id
JOIN ncu_measure l ON l.run_id = m.run_id AND l.launch_id = m.launch_id
LEFT JOIN label ON label.metric_id = m.metric_id
WHERE m.run_id = run AND (launch IS NULL OR _id_number(l.launch_id) - 1 = launch) AND (kernel IS NULL OR contains(lower(l.kernel), lower(kernel))) AND (stage IS NULL OR coalesce(l.stage, '(none)') = stage)
ORDER BY l.launch_id, n.name
