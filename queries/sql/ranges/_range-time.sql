-- _range-time: Each range of a capture with the device work launched inside it, all devices together.
-- grain: one range
-- key: range_id
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only work on this GPU, and only ranges that have some
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   range_id: the range
--   path_id: its path of names
--   style: push_pop, start_end or record_function
--   domain: NVTX domain
--   name: normalised name
--   raw_name: name as recorded
--   cpu_ns: time on the CPU; NULL when it never ended
--   gpu_span_ns: first start to last end of its device work; NULL when it has none
--   gpu_busy_ns: union of its device work's intervals, added up over devices; 0 when it has none
--   gpu_sum_ns: sum of the durations of its kernels, copies, fills and graph replays
--   kernel_sum_ns: sum of the durations of its kernels
--   kernel_count: kernels
--   memop_count: copies and fills
--   graph_count: graph replays traced as a whole

SELECT n.range_id, n.path_id, n.style, n.domain, p.name, n.name AS raw_name, n.duration_ns AS cpu_ns,
    max(d.last_end_ns) - min(d.first_start_ns) AS gpu_span_ns,
    coalesce(sum(d.busy_ns), 0)::BIGINT AS gpu_busy_ns,
    coalesce(sum(d.sum_ns), 0)::BIGINT AS gpu_sum_ns,
    coalesce(sum(d.kernel_sum_ns), 0)::BIGINT AS kernel_sum_ns,
    coalesce(sum(d.kernel_count), 0)::BIGINT AS kernel_count,
    coalesce(sum(d.memop_count), 0)::BIGINT AS memop_count,
    coalesce(sum(d.graph_count), 0)::BIGINT AS graph_count
FROM nvtx_range n
JOIN range_path p ON p.run_id = n.run_id AND p.path_id = n.path_id
LEFT JOIN range_device d ON d.run_id = n.run_id AND d.range_id = n.range_id AND (device IS NULL OR d.device_id = device)
WHERE n.run_id = run AND n.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t) AND (device IS NULL OR d.range_id IS NOT NULL)
GROUP BY n.range_id, n.path_id, n.style, n.domain, p.name, n.name, n.duration_ns
