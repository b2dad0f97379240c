-- device-samples v1: NVML samples of the GPUs during recordings, about ten per second.
-- grain: one sample of one GPU
-- key: pass, device, time_ns
-- notes: capture samples
-- params:
--   run VARCHAR: the run
--   pass VARCHAR = NULL: only this recording, e.g. nsys-1
--   device BIGINT = NULL: only this GPU, by NVML index
-- columns:
--   pass: the recording
--   device: NVML index of the GPU; on node K of a job 1000 x K more
--   time_ns: sample time, from the start of the recording; negative before it
--   sm_ratio: GPU utilisation: share of NVML's last sample period in which a kernel ran; NULL, as in the other columns, when NVML does not
--     report it
--   memory_ratio: memory utilisation: share of NVML's last sample period in which memory was read or written
--   memory_used_bytes: memory used, all processes
--   sm_clock_hz: SM clock
--   memory_clock_hz: memory clock
--   power_w: power drawn
--   temperature_c: GPU temperature
--   throttle: reasons for throttled clocks, as in throttling; empty when not throttled
--   other_process_count: compute processes on the GPU other than the workload's

SELECT
    p.name AS pass,
    d.device_id AS device,
    d.time_ns,
    d.sm_ratio,
    d.memory_ratio,
    d.memory_used_bytes,
    d.sm_clock_hz,
    d.memory_clock_hz,
    d.power_w,
    d.temperature_c,
    CASE
        WHEN d.throttle_mask IS NOT NULL
            THEN coalesce(
                (
                    SELECT string_agg(r.reason, ', ' ORDER BY r.bit_count)
                    FROM _throttle_reason r
                    WHERE d.throttle_mask & (1::BIGINT << r.bit_count) <> 0
                ),
                ''
            )
    END AS throttle,
    d.other_process_count
FROM device_sample d JOIN capture_pass p ON p.run_id = d.run_id AND p.pass_id = d.pass_id
WHERE d.run_id = run AND (pass IS NULL OR p.name = pass) AND (device IS NULL OR d.device_id = device)
ORDER BY d.pass_id, d.time_ns, d.device_id
