-- used_gpu: The GPUs that ran work, by the counted timeline of a run: a capture lists all GPUs that the driver has.
-- grain: one GPU
-- key: device_id
-- needs: device_time
-- columns:
--   device_id INTEGER: GPU

SELECT DISTINCT d.device_id
FROM timeline t JOIN device_time d ON d.run_id = t.run_id AND d.source_id = t.source_id
WHERE t.run_id = $run AND t.is_counted AND d.range_id IS NULL
