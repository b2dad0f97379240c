-- ranges v2: Ranges (NVTX, record_function) by name with their CPU time and the device work launched inside them, nested ranges included; as nsys' nvtx_pushpop_sum and nvtx_gpu_proj_sum together.
-- grain: one range name, domain and style
-- key: range, domain, style
-- notes: timelines launch range
-- params:
--   run VARCHAR: the run
--   raw BOOLEAN = false: by the name as recorded, not the normalised one
--   device BIGINT = NULL: only work on this GPU, and only ranges that have some
--   top BIGINT = 0: rows at most; 0 for all
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   range: name; ids and counters are # unless raw
--   domain: NVTX domain; empty for the default one
--   instances: ranges of that name
--   cpu_total_ns: sum of the times on the CPU
--   gpu_span_total_ns: sum over the instances of first start to last end of their device work; NULL when none has any
--   gpu_sum_ns: sum of the durations of kernels, copies, fills and graph replays
--   kernel_count: kernels
--   style: push_pop or start_end; record_function for a range of the PyTorch profiler
--   cpu_mean_ns: mean time on the CPU
--   cpu_median_ns: median time on the CPU
--   cpu_min_ns: shortest time on the CPU
--   cpu_max_ns: longest time on the CPU
--   cpu_std_ns: sample standard deviation (n-1) of the time on the CPU; NULL for a single instance
--   gpu_instances: instances with device work
--   gpu_span_mean_ns: mean span of these
--   gpu_span_median_ns: median span of these
--   gpu_span_min_ns: shortest span of these
--   gpu_span_max_ns: longest span of these
--   gpu_span_std_ns: sample standard deviation (n-1) of their spans; NULL for a single one
--   gpu_busy_ns: sum over the instances of the union of their device work's intervals
--   kernel_sum_ns: sum of the durations of kernels
--   memop_count: copies and fills
--   graph_count: graph replays traced as a whole
--   unfinished_count: instances that never ended, not in the CPU times

SELECT CASE WHEN raw THEN t.raw_name ELSE t.name END AS "range", t.domain, count(*) AS instances,
    sum(t.cpu_ns)::BIGINT AS cpu_total_ns, sum(t.gpu_span_ns)::BIGINT AS gpu_span_total_ns, sum(t.gpu_sum_ns)::BIGINT AS gpu_sum_ns,
    sum(t.kernel_count)::BIGINT AS kernel_count, t.style,
    avg(t.cpu_ns) AS cpu_mean_ns, median(t.cpu_ns) AS cpu_median_ns, min(t.cpu_ns) AS cpu_min_ns, max(t.cpu_ns) AS cpu_max_ns,
    _std(t.cpu_ns) AS cpu_std_ns, count(t.gpu_span_ns) AS gpu_instances,
    avg(t.gpu_span_ns) AS gpu_span_mean_ns, median(t.gpu_span_ns) AS gpu_span_median_ns, min(t.gpu_span_ns) AS gpu_span_min_ns,
    max(t.gpu_span_ns) AS gpu_span_max_ns, _std(t.gpu_span_ns) AS gpu_span_std_ns,
    sum(t.gpu_busy_ns)::BIGINT AS gpu_busy_ns, sum(t.kernel_sum_ns)::BIGINT AS kernel_sum_ns,
    sum(t.memop_count)::BIGINT AS memop_count, sum(t.graph_count)::BIGINT AS graph_count, count(*) - count(t.cpu_ns) AS unfinished_count
FROM _range_time(run, device := device, source := source) t
GROUP BY "range", t.domain, t.style
ORDER BY cpu_total_ns DESC NULLS LAST, "range", t.domain, t.style
LIMIT (CASE WHEN top = 0 THEN 9223372036854775807 ELSE top END)
