-- gpu-metrics v1: Sampled GPU metrics over the whole capture.
-- grain: one metric of one GPU
-- key: source_id, device, metric
-- params:
--   run VARCHAR: the run
-- columns:
--   source_id: the source
--   device: GPU
--   metric: the profiler's name of the metric
--   unit: unit of the values: ratio (0-1), hz, or raw as the profiler stores them
--   samples: number of samples
--   mean: mean over the samples
--   median: median
--   min: smallest value
--   max: largest value

SELECT
    n.source_id,
    n.device_id AS device,
    n.name AS metric,
    n.unit,
    count(*) AS samples,
    avg(m.value) AS mean,
    median(m.value) AS median,
    min(m.value) AS min,
    max(m.value) AS max
FROM gpu_metric m
JOIN gpu_metric_name n
    ON n.run_id = m.run_id AND n.source_id = m.source_id AND n.type_id = m.type_id AND n.metric_id = m.metric_id
WHERE m.run_id = run
GROUP BY n.source_id, n.device_id, n.name, n.unit, n.type_id, n.metric_id
ORDER BY n.source_id, n.device_id, n.type_id, n.metric_id
