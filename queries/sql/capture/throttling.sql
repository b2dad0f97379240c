-- throttling v1: Why GPU clocks were lowered during recordings, from NVML samples about ten times per second.
-- grain: one recording, GPU and reason
-- key: pass, device, reason
-- notes: capture samples
-- params:
--   run VARCHAR: the run
--   pass VARCHAR = NULL: only this recording, e.g. nsys-1
--   device BIGINT = NULL: only this GPU, by NVML index
-- columns:
--   pass: the recording
--   device: NVML index of the GPU; on node K of a job 1000 x K more
--   reason: reason as nvidia-smi names it; bit N for one unknown to this prof
--   is_slowdown: whether the reason is power or cooling, so that times are longer than at full clocks; NULL when unknown
--   samples: samples with the reason
--   busy_samples: samples with the reason in which the GPU was busy; NULL when NVML reported sm_ratio in no sample of the recording, as for
--     MIG instances and virtual GPUs
--   busy_share_ratio: busy_samples as a share of all samples of the recording in which the GPU was busy; NULL when it never was, or when
--     that is unknown
--   sm_clock_mean_hz: mean SM clock in samples with the reason; NULL when NVML does not report it

WITH s AS (
    SELECT
        d.pass_id,
        d.device_id,
        d.throttle_mask,
        d.sm_clock_hz,
        d.sm_ratio,
        coalesce(d.sm_ratio > 0, false) AS is_busy
    FROM device_sample d
    WHERE d.run_id = run AND (device IS NULL OR d.device_id = device)
), busy AS (
    SELECT
        s.pass_id,
        s.device_id,
        CASE WHEN count(s.sm_ratio) > 0 THEN count(*) FILTER (s.is_busy) END AS samples
    FROM s
    GROUP BY s.pass_id, s.device_id
), bit AS (
    SELECT
        b.n AS bit_count,
        coalesce(r.reason, 'bit ' || b.n) AS reason,
        r.is_slowdown
    FROM range(63) b(n) LEFT JOIN _throttle_reason r ON r.bit_count = b.n
)
SELECT
    p.name AS pass,
    s.device_id AS device,
    b.reason,
    b.is_slowdown,
    count(*) AS samples,
    CASE WHEN any_value(u.samples) IS NOT NULL THEN count(*) FILTER (s.is_busy) END AS busy_samples,
    count(*) FILTER (s.is_busy) / nullif(any_value(u.samples), 0) AS busy_share_ratio,
    avg(s.sm_clock_hz) AS sm_clock_mean_hz
FROM s
JOIN bit b ON s.throttle_mask & (1::BIGINT << b.bit_count) <> 0
JOIN busy u ON u.pass_id = s.pass_id AND u.device_id = s.device_id
JOIN capture_pass p ON p.run_id = run AND p.pass_id = s.pass_id
WHERE pass IS NULL OR p.name = pass
GROUP BY p.pass_id, p.name, s.device_id, b.bit_count, b.reason, b.is_slowdown
ORDER BY p.pass_id, s.device_id, b.bit_count
