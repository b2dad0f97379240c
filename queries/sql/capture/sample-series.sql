-- sample-series v1: NVML samples of the GPUs while passes ran, merged so that they can be drawn over time.
-- grain: the samples of one GPU in one part of the time of one pass
-- key: pass, device, start_ns
-- notes: capture samples
-- params:
--   run VARCHAR: the run
--   parts BIGINT = 200: parts of equal length from the first sample of a pass to the last; 1 to 100000
-- columns:
--   pass: the pass, by its name, e.g. nsys-1
--   device: NVML's number of the GPU
--   start_ns: start of the part, from the start of the pass; below 0 before it
--   end_ns: its end, where the next part begins
--   sample_count: samples in it; parts without any are left out
--   sm_ratio: mean share of the sampling period in which a kernel ran; columns that NVML gave in no sample of the part are NULL
--   memory_ratio: mean share of the sampling period in which memory was read or written
--   sm_clock_hz: mean SM clock
--   sm_clock_min_hz: lowest SM clock
--   memory_used_bytes: most memory in use, by all processes
--   power_w: mean power drawn
--   power_max_w: most power drawn
--   temperature_c: highest temperature of the chip
--   throttle: why clocks were held down in any of the samples, as in throttling; NULL when they were not, or when NVML does not tell

WITH s AS (
    SELECT d.pass_id, d.device_id, d.time_ns, d.sm_ratio, d.memory_ratio, d.sm_clock_hz, d.memory_used_bytes, d.power_w, d.temperature_c, d.throttle_mask
    FROM device_sample d WHERE d.run_id = run
), span AS (
    SELECT x.pass_id, x.start_ns, (x.end_ns - x.start_ns) // CASE WHEN parts BETWEEN 1 AND 100000 THEN parts ELSE error('ARGUMENT: --parts is 1 to 100000')::BIGINT END + 1 AS part_ns
    FROM (SELECT s.pass_id, min(s.time_ns) AS start_ns, max(s.time_ns) AS end_ns FROM s GROUP BY s.pass_id) x
), part AS (
    SELECT s.pass_id, s.device_id, (s.time_ns - a.start_ns) // a.part_ns AS part, a.start_ns, a.part_ns, count(*) AS sample_count, _mean(s.sm_ratio) AS sm_ratio, _mean(s.memory_ratio) AS memory_ratio,
        avg(s.sm_clock_hz) AS sm_clock_hz, min(s.sm_clock_hz) AS sm_clock_min_hz, max(s.memory_used_bytes) AS memory_used_bytes, _mean(s.power_w) AS power_w, max(s.power_w) AS power_max_w,
        max(s.temperature_c) AS temperature_c, bit_or(s.throttle_mask) AS throttle_mask
    FROM s JOIN span a ON a.pass_id = s.pass_id GROUP BY ALL
), mask AS (
    SELECT x.throttle_mask, string_agg(coalesce(r.reason, 'bit ' || b.n), ', ' ORDER BY b.n) AS throttle
    FROM (SELECT DISTINCT p.throttle_mask FROM part p) x JOIN range(63) b(n) ON x.throttle_mask & (1::BIGINT << b.n) <> 0 LEFT JOIN _throttle_reason r ON r.bit_count = b.n
    GROUP BY x.throttle_mask
)
SELECT c.name AS pass, p.device_id AS device, p.start_ns + p.part * p.part_ns AS start_ns, p.start_ns + (p.part + 1) * p.part_ns AS end_ns, p.sample_count, p.sm_ratio, p.memory_ratio,
    p.sm_clock_hz, p.sm_clock_min_hz, p.memory_used_bytes, p.power_w, p.power_max_w, p.temperature_c, m.throttle
FROM part p JOIN capture_pass c ON c.run_id = run AND c.pass_id = p.pass_id
LEFT JOIN mask m ON m.throttle_mask = p.throttle_mask
ORDER BY p.pass_id, p.device_id, p.part
