-- device-use v1: Work, memory, clocks, power and temperature of the GPUs in each pass, by samples of NVML.
-- grain: one pass and GPU
-- key: pass, device
-- notes: capture samples
-- params:
--   run VARCHAR: the run
--   pass VARCHAR = NULL: only this pass, by its name, e.g. nsys-1
--   device BIGINT = NULL: only this GPU, by NVML's number
-- columns:
--   pass: the pass
--   device: NVML's number of the GPU
--   samples: samples
--   sm_mean_ratio: mean share of a sampling period in which a kernel ran; columns that NVML did not tell are NULL
--   sm_max_ratio: the highest
--   memory_mean_ratio: mean share in which memory was read or written
--   memory_max_ratio: the highest
--   memory_used_mean_bytes: mean memory in use, by all processes
--   memory_used_max_bytes: the most
--   sm_clock_mean_hz: mean SM clock
--   sm_clock_max_hz: the highest
--   busy_sm_clock_mean_hz: mean SM clock of samples in which a kernel ran
--   memory_clock_mean_hz: mean memory clock
--   memory_clock_max_hz: the highest
--   power_mean_w: mean power drawn
--   power_max_w: the most
--   temperature_mean_c: mean temperature of the chip
--   temperature_max_c: the highest
--   other_process_max_count: the most processes at once that computed on it and are not the workload's
--   name: product name of the GPU

SELECT p.name AS pass, d.device_id AS device, count(*) AS samples, _mean(d.sm_ratio) AS sm_mean_ratio, max(d.sm_ratio) AS sm_max_ratio, _mean(d.memory_ratio) AS memory_mean_ratio, max(d.memory_ratio) AS memory_max_ratio,
    avg(d.memory_used_bytes) AS memory_used_mean_bytes, max(d.memory_used_bytes) AS memory_used_max_bytes, avg(d.sm_clock_hz) AS sm_clock_mean_hz, max(d.sm_clock_hz) AS sm_clock_max_hz,
    avg(d.sm_clock_hz) FILTER (d.sm_ratio > 0) AS busy_sm_clock_mean_hz, avg(d.memory_clock_hz) AS memory_clock_mean_hz, max(d.memory_clock_hz) AS memory_clock_max_hz,
    _mean(d.power_w) AS power_mean_w, max(d.power_w) AS power_max_w, _mean(d.temperature_c) AS temperature_mean_c, max(d.temperature_c) AS temperature_max_c, max(d.other_process_count) AS other_process_max_count,
    min(c.name) AS name
FROM device_sample d JOIN capture_pass p ON p.run_id = d.run_id AND p.pass_id = d.pass_id
LEFT JOIN (SELECT x.device_id, min(x.name) AS name FROM capture_device x WHERE x.run_id = run GROUP BY x.device_id) c ON c.device_id = d.device_id
WHERE d.run_id = run AND (pass IS NULL OR p.name = pass) AND (device IS NULL OR d.device_id = device)
GROUP BY p.pass_id, p.name, d.device_id
ORDER BY p.pass_id, d.device_id
