-- _ncu-value: Numbers that Nsight Compute measured in a run, by result and metric.
-- grain: one metric of one result
-- key: launch_id, name
-- params:
--   run VARCHAR: the run
-- columns:
--   launch_id: the result
--   name: the metric
--   value: its value in ncu's base unit

SELECT m.launch_id, n.name, m.value
FROM ncu_metric m
JOIN ncu_metric_name n ON n.run_id = m.run_id AND n.metric_id = m.metric_id
WHERE m.run_id = run AND m.value IS NOT NULL
