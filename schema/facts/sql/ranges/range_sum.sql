-- range_sum: Ranges by timeline kind and normalised name with CPU time and the device work launched inside them, nested ranges included.
-- grain: one timeline kind, range name, domain and style
-- key: kind, name, domain, style
-- needs: timeline nvtx_range|reported_sum
-- columns:
--   kind VARCHAR: timeline kind: {timelines}
--   name VARCHAR: range name; ids and counters are #
--   domain VARCHAR: NVTX domain; empty for the default one
--   style VARCHAR: push_pop or start_end; record_function for a PyTorch profiler range
--   instances BIGINT: ranges of that name; NULL, like the other columns that they lack, in reported sums
--   cpu_total_ns BIGINT: sum of CPU times
--   gpu_span_total_ns BIGINT: sum of GPU spans (first start to last end of an instance's device work); NULL when no instance has any
--   gpu_sum_ns BIGINT: sum of the durations of kernels, copies, fills and graph replays
--   kernel_count BIGINT: kernels
--   cpu_mean_ns DOUBLE: mean CPU time
--   cpu_median_ns DOUBLE: median CPU time
--   cpu_min_ns BIGINT: shortest CPU time
--   cpu_max_ns BIGINT: longest CPU time
--   cpu_std_ns DOUBLE: sample standard deviation (n-1) of CPU time; NULL for a single instance
--   gpu_instances BIGINT: instances with device work
--   gpu_span_mean_ns DOUBLE: mean GPU span of these
--   gpu_span_median_ns DOUBLE: median GPU span of these
--   gpu_span_min_ns BIGINT: shortest GPU span of these
--   gpu_span_max_ns BIGINT: longest GPU span of these
--   gpu_span_std_ns DOUBLE: sample standard deviation (n-1) of the GPU spans; NULL for a single one
--   gpu_busy_ns BIGINT: GPU busy time, summed over the instances
--   kernel_sum_ns BIGINT: sum of kernel durations
--   memop_count BIGINT: copies and fills
--   graph_count BIGINT: graph replays traced as a whole
--   unfinished_count BIGINT: instances that never ended; excluded from CPU times

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
FROM _range_sum($run) s
