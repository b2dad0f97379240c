-- ranges v2: Ranges (NVTX, record_function) by name with CPU time and the device work launched inside them, nested ranges included; as
--     nsys' nvtx_pushpop_sum and nvtx_gpu_proj_sum together. Warm-up counts too: it lists what the capture has.
-- grain: one range name, domain and style
-- key: range, domain, style
-- notes: timelines launch range warm recorded
-- params:
--   run VARCHAR: the run
--   raw BOOLEAN = false: group by the name as recorded instead of the normalised name
--   device BIGINT = NULL: only work on this GPU, and only ranges with work on it
--   top BIGINT = 0: maximum rows; 0 for all
--   {source}
-- columns:
--   range: range name; ids and counters are # unless raw
--   domain: NVTX domain; empty for the default one
--   instances: ranges of that name
--   cpu_total_ns: sum of CPU times
--   gpu_span_total_ns: sum of GPU spans (first start to last end of an instance's device work); NULL when no instance has any
--   gpu_sum_ns: sum of the durations of kernels, copies, fills and graph replays
--   kernel_count: kernels
--   style: push_pop or start_end; record_function for a PyTorch profiler range
--   cpu_mean_ns: mean CPU time
--   cpu_median_ns: median CPU time
--   cpu_min_ns: shortest CPU time
--   cpu_max_ns: longest CPU time
--   cpu_std_ns: sample standard deviation (n-1) of CPU time; NULL for a single instance
--   gpu_instances: instances with device work
--   gpu_span_mean_ns: mean GPU span of these
--   gpu_span_median_ns: median GPU span of these
--   gpu_span_min_ns: shortest GPU span of these
--   gpu_span_max_ns: longest GPU span of these
--   gpu_span_std_ns: sample standard deviation (n-1) of the GPU spans; NULL for a single one
--   gpu_busy_ns: GPU busy time, summed over the instances
--   kernel_sum_ns: sum of kernel durations
--   memop_count: copies and fills
--   graph_count: graph replays traced as a whole
--   unfinished_count: instances that never ended; excluded from CPU times

-- By name as recorded, or of one GPU, they are added up anew.
SELECT
    s.name AS "range",
    s.domain,
    s.instances,
    s.cpu_total_ns,
    s.gpu_span_total_ns,
    s.gpu_sum_ns,
    s.kernel_count,
    s.style,
    s.cpu_mean_ns,
    s.cpu_median_ns,
    s.cpu_min_ns,
    s.cpu_max_ns,
    s.cpu_std_ns,
    s.gpu_instances,
    s.gpu_span_mean_ns,
    s.gpu_span_median_ns,
    s.gpu_span_min_ns,
    s.gpu_span_max_ns,
    s.gpu_span_std_ns,
    s.gpu_busy_ns,
    s.kernel_sum_ns,
    s.memop_count,
    s.graph_count,
    s.unfinished_count
FROM (
    SELECT
        s.kind,
        s.name,
        s.domain,
        s.style,
        s.instances,
        s.cpu_total_ns,
        s.gpu_span_total_ns,
        s.gpu_sum_ns,
        s.kernel_count,
        s.cpu_mean_ns,
        s.cpu_median_ns,
        s.cpu_min_ns,
        s.cpu_max_ns,
        s.cpu_std_ns,
        s.gpu_instances,
        s.gpu_span_mean_ns,
        s.gpu_span_median_ns,
        s.gpu_span_min_ns,
        s.gpu_span_max_ns,
        s.gpu_span_std_ns,
        s.gpu_busy_ns,
        s.kernel_sum_ns,
        s.memop_count,
        s.graph_count,
        s.unfinished_count
    FROM range_sum s
    WHERE s.run_id = run AND NOT raw AND device IS NULL
    UNION ALL
    SELECT
        s.kind,
        s.name,
        s.domain,
        s.style,
        s.instances,
        s.cpu_total_ns,
        s.gpu_span_total_ns,
        s.gpu_sum_ns,
        s.kernel_count,
        s.cpu_mean_ns,
        s.cpu_median_ns,
        s.cpu_min_ns,
        s.cpu_max_ns,
        s.cpu_std_ns,
        s.gpu_instances,
        s.gpu_span_mean_ns,
        s.gpu_span_median_ns,
        s.gpu_span_min_ns,
        s.gpu_span_max_ns,
        s.gpu_span_std_ns,
        s.gpu_busy_ns,
        s.kernel_sum_ns,
        s.memop_count,
        s.graph_count,
        s.unfinished_count
    FROM _range_sum(run, raw := raw, device := device) s
    WHERE raw OR device IS NOT NULL
) s
WHERE s.kind IN (SELECT t.kind FROM _timeline(run, source := source) t)
ORDER BY s.cpu_total_ns DESC NULLS LAST, s.name, s.domain, s.style
LIMIT (CASE WHEN top = 0 THEN 9223372036854775807 ELSE top END)
