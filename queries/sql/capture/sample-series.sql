-- sample-series v1: NVML samples of the GPUs during recordings, binned over time for charts.
-- grain: one recording, GPU and time bin
-- key: pass, device, start_ns
-- notes: capture samples
-- params:
--   run VARCHAR: the run
--   parts BIGINT = 200: time bins of equal length from the first to the last sample of a recording; 1 to 100000
-- columns:
--   pass: the recording, e.g. nsys-1
--   device: NVML index of the GPU; on node K of a job 1000 x K more
--   start_ns: start of the bin, from the start of the recording; negative before it
--   end_ns: end of the bin, where the next one begins
--   sample_count: samples in the bin; empty bins have no row
--   sm_ratio: mean GPU utilisation: share of a sample period in which a kernel ran; NULL, as in the other columns, when NVML reports it in
--     no sample of the bin
--   memory_ratio: mean memory utilisation: share of a sample period in which memory was read or written
--   sm_clock_hz: mean SM clock
--   sm_clock_min_hz: lowest SM clock
--   memory_used_bytes: most memory used, all processes
--   power_w: mean power drawn
--   power_max_w: most power drawn
--   temperature_c: highest GPU temperature
--   throttle: reasons for throttled clocks in any sample, as in throttling; NULL when not throttled, or when NVML does not report it

WITH s AS (
    SELECT
        d.pass_id,
        d.device_id,
        d.time_ns,
        d.sm_ratio,
        d.memory_ratio,
        d.sm_clock_hz,
        d.memory_used_bytes,
        d.power_w,
        d.temperature_c,
        d.throttle_mask
    FROM device_sample d
    WHERE d.run_id = run
), span AS (
    SELECT
        x.pass_id,
        x.start_ns,
        (x.end_ns - x.start_ns)
            // CASE
                WHEN parts BETWEEN 1 AND 100000 THEN parts
                ELSE error('ARGUMENT: --parts is 1 to 100000')::BIGINT
            END
            + 1 AS part_ns
    FROM (
        SELECT
            s.pass_id,
            min(s.time_ns) AS start_ns,
            max(s.time_ns) AS end_ns
        FROM s
        GROUP BY s.pass_id
    ) x
), part AS (
    SELECT
        s.pass_id,
        s.device_id,
        (s.time_ns - a.start_ns) // a.part_ns AS part,
        a.start_ns,
        a.part_ns,
        count(*) AS sample_count,
        _mean(s.sm_ratio) AS sm_ratio,
        _mean(s.memory_ratio) AS memory_ratio,
        avg(s.sm_clock_hz) AS sm_clock_hz,
        min(s.sm_clock_hz) AS sm_clock_min_hz,
        max(s.memory_used_bytes) AS memory_used_bytes,
        _mean(s.power_w) AS power_w,
        max(s.power_w) AS power_max_w,
        max(s.temperature_c) AS temperature_c,
        bit_or(s.throttle_mask) AS throttle_mask
    FROM s JOIN span a ON a.pass_id = s.pass_id
    GROUP BY ALL
), mask AS (
    SELECT
        x.throttle_mask,
        string_agg(coalesce(r.reason, 'bit ' || b.n), ', ' ORDER BY b.n) AS throttle
    FROM (SELECT DISTINCT p.throttle_mask FROM part p) x
    JOIN range(63) b(n) ON x.throttle_mask & (1::BIGINT << b.n) <> 0
    LEFT JOIN _throttle_reason r ON r.bit_count = b.n
    GROUP BY x.throttle_mask
)
SELECT
    c.name AS pass,
    p.device_id AS device,
    p.start_ns + p.part * p.part_ns AS start_ns,
    p.start_ns + (p.part + 1) * p.part_ns AS end_ns,
    p.sample_count,
    p.sm_ratio,
    p.memory_ratio,
    p.sm_clock_hz,
    p.sm_clock_min_hz,
    p.memory_used_bytes,
    p.power_w,
    p.power_max_w,
    p.temperature_c,
    m.throttle
FROM part p
JOIN capture_pass c ON c.run_id = run AND c.pass_id = p.pass_id
LEFT JOIN mask m ON m.throttle_mask = p.throttle_mask
ORDER BY p.pass_id, p.device_id, p.part
