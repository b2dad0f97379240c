-- _range-sum: Ranges by timeline kind and name with CPU time and the device work launched inside them, nested ranges included.
-- grain: one timeline kind, range name, domain and style
-- key: kind, name, domain, style
-- params:
--   run VARCHAR: the run
--   raw BOOLEAN = false: group by the name as recorded instead of the normalised name
--   device BIGINT = NULL: only work on this GPU, and only ranges with work on it
-- columns:
--   kind: timeline kind: {timelines}
--   name: range name; ids and counters are # unless raw
--   domain: NVTX domain; empty for the default one
--   style: push_pop or start_end; record_function for a PyTorch profiler range
--   instances: ranges of that name; NULL, like the other columns that they lack, in reported sums
--   cpu_total_ns: sum of CPU times
--   gpu_span_total_ns: sum of GPU spans (first start to last end of an instance's device work); NULL when no instance has any
--   gpu_sum_ns: sum of the durations of kernels, copies, fills and graph replays
--   kernel_count: kernels
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

WITH w AS (
    SELECT
        d.range_id,
        max(d.last_end_ns) - min(d.first_start_ns) AS gpu_span_ns,
        sum(d.busy_ns) AS busy_ns,
        sum(d.sum_ns) AS sum_ns,
        sum(d.kernel_sum_ns) AS kernel_sum_ns,
        sum(d.kernel_count) AS kernel_count,
        sum(d.memop_count) AS memop_count,
        sum(d.graph_count) AS graph_count
    FROM range_device d
    WHERE d.run_id = run AND (device IS NULL OR d.device_id = device)
    GROUP BY d.range_id
)
SELECT
    t.kind,
    CASE WHEN raw THEN n.name ELSE p.name END AS name,
    n.domain,
    n.style,
    count(*) AS instances,
    sum(n.duration_ns)::BIGINT AS cpu_total_ns,
    sum(w.gpu_span_ns)::BIGINT AS gpu_span_total_ns,
    coalesce(sum(w.sum_ns), 0)::BIGINT AS gpu_sum_ns,
    coalesce(sum(w.kernel_count), 0)::BIGINT AS kernel_count,
    avg(n.duration_ns) AS cpu_mean_ns,
    median(n.duration_ns) AS cpu_median_ns,
    min(n.duration_ns) AS cpu_min_ns,
    max(n.duration_ns) AS cpu_max_ns,
    _std(n.duration_ns) AS cpu_std_ns,
    count(w.gpu_span_ns) AS gpu_instances,
    avg(w.gpu_span_ns) AS gpu_span_mean_ns,
    median(w.gpu_span_ns) AS gpu_span_median_ns,
    min(w.gpu_span_ns) AS gpu_span_min_ns,
    max(w.gpu_span_ns) AS gpu_span_max_ns,
    _std(w.gpu_span_ns) AS gpu_span_std_ns,
    coalesce(sum(w.busy_ns), 0)::BIGINT AS gpu_busy_ns,
    coalesce(sum(w.kernel_sum_ns), 0)::BIGINT AS kernel_sum_ns,
    coalesce(sum(w.memop_count), 0)::BIGINT AS memop_count,
    coalesce(sum(w.graph_count), 0)::BIGINT AS graph_count,
    count(*) - count(n.duration_ns) AS unfinished_count
FROM nvtx_range n
JOIN timeline t ON t.run_id = n.run_id AND t.source_id = n.source_id
JOIN range_path p ON p.run_id = n.run_id AND p.path_id = n.path_id
LEFT JOIN w ON w.range_id = n.range_id
WHERE n.run_id = run AND (device IS NULL OR w.range_id IS NOT NULL)
GROUP BY t.kind, CASE WHEN raw THEN n.name ELSE p.name END, n.domain, n.style
UNION ALL -- sums reported in place of a timeline: a row of one report and of the other, of each name and source
SELECT
    t.kind,
    CASE WHEN raw THEN r.name ELSE r.normalised_name END,
    r.domain,
    r.style,
    sum(r.item_count) FILTER (r.report = 'range')::BIGINT,
    sum(r.total_ns) FILTER (r.report = 'range')::BIGINT,
    sum(r.total_ns) FILTER (r.report = 'range_gpu')::BIGINT,
    NULL,
    NULL,
    sum(r.total_ns) FILTER (r.report = 'range') / sum(r.item_count) FILTER (r.report = 'range'),
    CASE WHEN count(*) FILTER (r.report = 'range') = 1 THEN max(r.median_ns) FILTER (r.report = 'range') END,
    min(r.min_ns) FILTER (r.report = 'range'),
    max(r.max_ns) FILTER (r.report = 'range'),
    CASE WHEN count(*) FILTER (r.report = 'range') = 1 THEN max(r.std_ns) FILTER (r.report = 'range') END,
    sum(r.item_count) FILTER (r.report = 'range_gpu')::BIGINT,
    sum(r.total_ns) FILTER (r.report = 'range_gpu') / sum(r.item_count) FILTER (r.report = 'range_gpu'),
    CASE WHEN count(*) FILTER (r.report = 'range_gpu') = 1 THEN max(r.median_ns) FILTER (r.report = 'range_gpu') END,
    min(r.min_ns) FILTER (r.report = 'range_gpu'),
    max(r.max_ns) FILTER (r.report = 'range_gpu'),
    CASE WHEN count(*) FILTER (r.report = 'range_gpu') = 1 THEN max(r.std_ns) FILTER (r.report = 'range_gpu') END,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL
FROM reported_sum r JOIN timeline t ON t.run_id = r.run_id AND t.source_id = r.source_id
WHERE r.run_id = run AND r.report IN ('range', 'range_gpu') AND device IS NULL
GROUP BY t.kind, CASE WHEN raw THEN r.name ELSE r.normalised_name END, r.domain, r.style
