-- kernel-durations v1: How the executions of the kernels that take the most time are spread: their histogram over bins that grow by a factor of 2^(1/4).
-- grain: one kernel and bin with executions
-- key: kernel, from_ns
-- notes: graph timelines
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only kernels launched in this stage; (none) for those outside every stage
--   device BIGINT = NULL: only this GPU
--   top BIGINT = 9: kernels at most, by total time; 0 for all
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   rank: place of the kernel by total time, as in top-kernels
--   kernel: demangled name
--   from_ns: least time of the bin, a power of 2^(1/4); 0 for the bin of executions that took no measurable time
--   to_ns: the bin ends before this, the next power of 2^(1/4); 1 for the bin from 0
--   calls: executions in the bin: all bins of a kernel add up to kernel_calls
--   total_ns: sum of their times: all bins of a kernel add up to kernel_total_ns
--   kernel_calls: executions of the kernel
--   kernel_total_ns: sum of their times
--   median_ns: median execution time of the kernel; of an even number of calls the mean of the middle two

WITH h AS (
    SELECT g.kernel_name_id, g.duration_ns, sum(g.calls)::BIGINT AS calls
    FROM _kernel_histogram(run, device := device, source := source) g
    LEFT JOIN path_stage s ON s.run_id = run AND s.path_id = g.path_id
    WHERE stage IS NULL OR coalesce(s.stage, '(none)') = stage
    GROUP BY g.kernel_name_id, g.duration_ns
), t AS (
    SELECT h.kernel_name_id, sum(h.calls)::BIGINT AS calls, sum(h.calls * h.duration_ns)::BIGINT AS total_ns FROM h GROUP BY h.kernel_name_id
), ranked AS (
    SELECT row_number() OVER (ORDER BY t.total_ns DESC, n.name) AS rank, t.kernel_name_id, n.name AS kernel, t.calls, t.total_ns
    FROM t JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = t.kernel_name_id
), d AS (
    SELECT r.rank, r.kernel, r.calls AS kernel_calls, r.total_ns AS kernel_total_ns, h.duration_ns, h.calls, sum(h.calls) OVER (PARTITION BY r.rank ORDER BY h.duration_ns) AS upto
    FROM h JOIN ranked r ON r.kernel_name_id = h.kernel_name_id
    WHERE top = 0 OR r.rank <= top
), m AS (
    SELECT d.rank, (min(d.duration_ns) FILTER (d.upto > (d.kernel_calls - 1) // 2) + min(d.duration_ns) FILTER (d.upto > d.kernel_calls // 2)) / 2.0::DOUBLE AS median_ns
    FROM d GROUP BY d.rank
), bin AS ( -- compared with the times themselves: a logarithm can put a time that lies on a bound into the bin beside it
    SELECT 0::DOUBLE AS from_ns, 1::DOUBLE AS to_ns
    UNION ALL
    SELECT (1::BIGINT << (x // 4)) * [1, sqrt(sqrt(2)), sqrt(2), sqrt(sqrt(8))][x % 4 + 1], (1::BIGINT << ((x + 1) // 4)) * [1, sqrt(sqrt(2)), sqrt(2), sqrt(sqrt(8))][(x + 1) % 4 + 1]
    FROM range(240) r(x)
)
SELECT d.rank, d.kernel, b.from_ns, b.to_ns, sum(d.calls)::BIGINT AS calls, sum(d.calls * d.duration_ns)::BIGINT AS total_ns, d.kernel_calls, d.kernel_total_ns, m.median_ns
FROM d ASOF JOIN bin b ON d.duration_ns >= b.from_ns
JOIN m ON m.rank = d.rank
GROUP BY d.rank, d.kernel, b.from_ns, b.to_ns, d.kernel_calls, d.kernel_total_ns, m.median_ns
ORDER BY d.rank, b.from_ns
