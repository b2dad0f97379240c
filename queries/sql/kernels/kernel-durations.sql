-- kernel-durations v2: Duration histograms of the kernels that take the most time; each bin is 2^(1/4) times as wide as the one before.
-- grain: one kernel and non-empty bin
-- key: kernel, from_ns
-- notes: graph timelines left-kernels launch
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only kernels launched in this stage; (none) for kernels outside every stage
--   device BIGINT = NULL: only this GPU
--   top BIGINT = 9: maximum kernels, by total time; 0 for all
--   warmup BOOLEAN = false: count warm-up passes too, and what is outside stages
--   {source}
-- columns:
--   rank: rank of the kernel by total time, as in top-kernels
--   kernel: demangled name
--   from_ns: lower edge of the bin, a power of 2^(1/4); 0 for executions without measurable time
--   to_ns: upper edge of the bin, exclusive: the next power of 2^(1/4); 1 for the bin from 0
--   calls: executions in the bin: the bins of a kernel add up to kernel_calls
--   total_ns: sum of their durations: the bins of a kernel add up to kernel_total_ns
--   kernel_calls: executions of the kernel
--   kernel_total_ns: sum of the kernel's durations
--   median_ns: median duration of the kernel; mean of the middle two for an even number of calls

WITH h AS (
    SELECT
        k.kernel_name_id,
        k.duration_ns,
        sum(k.launch_count)::BIGINT AS calls
    FROM _ranked_kernel(run, stage := stage, device := device, warmup := warmup, source := source) k
    WHERE NOT k.is_left
    GROUP BY k.kernel_name_id, k.duration_ns
), d AS (
    SELECT
        h.kernel_name_id,
        h.duration_ns,
        h.calls,
        sum(h.calls) OVER (w ROWS UNBOUNDED PRECEDING) AS upto,
        sum(h.calls) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS n
    FROM h
    WINDOW w AS (PARTITION BY h.kernel_name_id ORDER BY h.duration_ns)
), t AS (
    SELECT
        d.kernel_name_id,
        sum(d.calls)::BIGINT AS calls,
        sum(d.calls * d.duration_ns)::BIGINT AS total_ns,
        _counted_median(d.duration_ns, d.upto, d.n) AS median_ns
    FROM d
    GROUP BY d.kernel_name_id
), ranked AS (
    SELECT
        row_number() OVER (ORDER BY t.total_ns DESC, n.name) AS rank,
        t.kernel_name_id,
        n.name AS kernel,
        t.calls,
        t.total_ns,
        t.median_ns
    FROM t JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = t.kernel_name_id
), bin AS ( -- compared with the times themselves: a logarithm can put a time that lies on a bound into the bin beside it
    SELECT
        0::DOUBLE AS from_ns,
        1::DOUBLE AS to_ns
    UNION ALL
    SELECT
        (1::BIGINT << (x // 4)) * [1, sqrt(sqrt(2)), sqrt(2), sqrt(sqrt(8))][x % 4 + 1],
        (1::BIGINT << ((x + 1) // 4)) * [1, sqrt(sqrt(2)), sqrt(2), sqrt(sqrt(8))][(x + 1) % 4 + 1]
    FROM range(240) r(x)
)
SELECT
    r.rank,
    r.kernel,
    b.from_ns,
    b.to_ns,
    sum(h.calls)::BIGINT AS calls,
    sum(h.calls * h.duration_ns)::BIGINT AS total_ns,
    r.calls AS kernel_calls,
    r.total_ns AS kernel_total_ns,
    r.median_ns
FROM h
JOIN ranked r ON r.kernel_name_id = h.kernel_name_id AND (top = 0 OR r.rank <= top)
ASOF JOIN bin b ON h.duration_ns >= b.from_ns
GROUP BY r.rank, r.kernel, b.from_ns, b.to_ns, r.calls, r.total_ns, r.median_ns
ORDER BY r.rank, b.from_ns
