-- device-use v1: GPU utilisation, memory, clocks, power and temperature per recording, from NVML samples.
-- grain: one recording and GPU
-- key: pass, device
-- notes: capture samples
-- params:
--   run VARCHAR: the run
--   pass VARCHAR = NULL: only this recording, e.g. nsys-1
--   device BIGINT = NULL: only this GPU, by NVML index
-- columns:
--   pass: the recording
--   device: NVML index of the GPU; on node K of a job 1000 x K more
--   samples: number of samples
--   sm_mean_ratio: mean GPU utilisation: share of a sample period in which a kernel ran; NULL, as in the other columns, when NVML does not
--     report it
--   sm_max_ratio: highest GPU utilisation
--   memory_mean_ratio: mean memory utilisation: share of a sample period in which memory was read or written
--   memory_max_ratio: highest memory utilisation
--   memory_used_mean_bytes: mean memory used, all processes
--   memory_used_max_bytes: most memory used, all processes
--   sm_clock_mean_hz: mean SM clock
--   sm_clock_max_hz: highest SM clock
--   busy_sm_clock_mean_hz: mean SM clock of samples in which a kernel ran
--   memory_clock_mean_hz: mean memory clock
--   memory_clock_max_hz: highest memory clock
--   power_mean_w: mean power drawn
--   power_max_w: most power drawn
--   temperature_mean_c: mean GPU temperature
--   temperature_max_c: highest GPU temperature
--   other_process_max_count: most compute processes on the GPU at once, other than the workload's
--   name: product name of the GPU

SELECT
    p.name AS pass,
    d.device_id AS device,
    count(*) AS samples,
    _mean(d.sm_ratio) AS sm_mean_ratio,
    max(d.sm_ratio) AS sm_max_ratio,
    _mean(d.memory_ratio) AS memory_mean_ratio,
    max(d.memory_ratio) AS memory_max_ratio,
    avg(d.memory_used_bytes) AS memory_used_mean_bytes,
    max(d.memory_used_bytes) AS memory_used_max_bytes,
    avg(d.sm_clock_hz) AS sm_clock_mean_hz,
    max(d.sm_clock_hz) AS sm_clock_max_hz,
    avg(d.sm_clock_hz) FILTER (d.sm_ratio > 0) AS busy_sm_clock_mean_hz,
    avg(d.memory_clock_hz) AS memory_clock_mean_hz,
    max(d.memory_clock_hz) AS memory_clock_max_hz,
    _mean(d.power_w) AS power_mean_w,
    max(d.power_w) AS power_max_w,
    _mean(d.temperature_c) AS temperature_mean_c,
    max(d.temperature_c) AS temperature_max_c,
    max(d.other_process_count) AS other_process_max_count,
    min(c.name) AS name
FROM device_sample d
JOIN capture_pass p ON p.run_id = d.run_id AND p.pass_id = d.pass_id
LEFT JOIN (
    SELECT
        x.device_id,
        min(x.name) AS name
    FROM capture_device x
    WHERE x.run_id = run
    GROUP BY x.device_id
) c ON c.device_id = d.device_id
WHERE d.run_id = run AND (pass IS NULL OR p.name = pass) AND (device IS NULL OR d.device_id = device)
GROUP BY p.pass_id, p.name, d.device_id
ORDER BY p.pass_id, d.device_id
