-- step: Steps of each timeline: ranges that are steps, and in sources without such what recurs on the GPU.
-- grain: one step on one GPU
-- key: basis, source_id, pid, device_id, range_id, start_ns
-- needs: _step_range|_step_period
-- columns:
--   nth BIGINT: 1, 2, ... within the stage, source, process and GPU, warm-up included
--   basis VARCHAR: range or period
--   source_id INTEGER: the source
--   pid INTEGER: process; NULL when the launches were not captured
--   device_id INTEGER: GPU; NULL for a step without device work
--   range_id BIGINT: the range; NULL with the basis period
--   stage VARCHAR: stage, by stage_rule; (none) outside of stages
--   name VARCHAR: normalised name of the range; with the basis period the kernel that begins each step, or graph replay
--   start_ns BIGINT: start of its first device work; of the range where it has none
--   time_ns BIGINT: its time: period_ns, gpu_span_ns or cpu_ns, by time_basis; NULL where a step lacks that
--   time_basis VARCHAR: gpu_period where steps follow each other (half of the steps of its kind do), else gpu_span, or cpu without device work
--   period_ns BIGINT: from its first device work to that of the next step of the same pass; NULL for the last
--   cpu_ns BIGINT: time of the range on its thread; NULL with the basis period
--   gpu_span_ns BIGINT: first start to last end of its device work
--   busy_ns BIGINT: union of the intervals of its device work
--   kernel_ns BIGINT: kernels of its own ran; NULL with the basis period, as all parts
--   graph_ns BIGINT: replays of its own ran whose kernels were not traced
--   copy_ns BIGINT: copies and fills of its own ran
--   other_ns BIGINT: only work of others ran
--   launch_bound_ns BIGINT: idle inside the launching call or on the way to it
--   wait_ns BIGINT: idle while the thread waited for the device
--   call_ns BIGINT: idle inside another CUDA call
--   host_ns BIGINT: idle while the thread was outside CUDA
--   profiler_ns BIGINT: idle while the profiler worked
--   queued_ns BIGINT: idle although the next launch had returned
--   unknown_ns BIGINT: idle before work whose launch was not captured
--   idle_ns BIGINT: these together
--   between_ns BIGINT: from its last device work to the first of the next step; NULL for the last
--   kernel_count BIGINT: kernels
--   memop_count BIGINT: copies and fills
--   graph_count BIGINT: replays whose kernels were not traced
--   decode_count BIGINT: generating sequences; NULL when not known
--   token_count BIGINT: tokens decoded, all sequences together; NULL when not known
--   is_warmup BOOLEAN: whether a warm-up rule matches, the workload says so, or its pass was found cold

WITH r AS (
    SELECT 'range' AS basis, r.source_id, r.pid, d.device_id, r.range_id, r.stage, r.name, coalesce(d.first_start_ns, r.start_ns) AS start_ns,
        CASE WHEN n.first_start_ns > d.first_start_ns THEN n.first_start_ns - d.first_start_ns END AS period_ns, r.cpu_ns, d.last_end_ns - d.first_start_ns AS gpu_span_ns, d.busy_ns,
        t.kernel_ns, t.graph_ns, t.copy_ns, t.other_ns, t.launch_ns + t.late_ns + t.launch_latency_ns AS launch_bound_ns, t.wait_ns, t.call_ns, t.host_ns, t.profiler_ns, t.queued_ns, t.unknown_ns,
        d.kernel_count, d.memop_count, d.graph_count, r.decode_count, r.token_count, r.is_warmup
    FROM _step_range r
    LEFT JOIN range_device d ON d.run_id = $run AND d.range_id = r.range_id
    LEFT JOIN range_device n ON n.run_id = $run AND n.range_id = r.next_range_id AND n.device_id = d.device_id
    LEFT JOIN device_time t ON t.run_id = $run AND t.range_id = r.range_id AND t.device_id = d.device_id AND t.source_id = r.source_id
    UNION ALL
    SELECT 'period', p.source_id, p.pid, p.device_id, NULL, s.stage, p.name, p.start_ns, p.period_ns, NULL, p.gpu_span_ns, p.busy_ns, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
        p.kernel_count, p.memop_count, p.graph_count, NULL, NULL, coalesce(s.is_warmup, false)
    FROM _step_period p LEFT JOIN path_stage s ON s.run_id = $run AND s.path_id = p.path_id
), kind AS (
    SELECT r.source_id, r.pid, r.device_id, r.stage, r.name, CASE WHEN 2 * count(r.period_ns) >= count(*) THEN 'gpu_period' WHEN count(r.gpu_span_ns) > 0 THEN 'gpu_span' ELSE 'cpu' END AS time_basis
    FROM r GROUP BY ALL
)
SELECT row_number() OVER (PARTITION BY r.stage, r.source_id, r.pid, r.device_id ORDER BY r.start_ns, r.range_id) AS nth, r.basis, r.source_id, r.pid, r.device_id, r.range_id, coalesce(r.stage, '(none)') AS stage, r.name, r.start_ns,
    CASE k.time_basis WHEN 'gpu_period' THEN r.period_ns WHEN 'gpu_span' THEN r.gpu_span_ns ELSE r.cpu_ns END AS time_ns, k.time_basis,
    r.period_ns, r.cpu_ns, r.gpu_span_ns, r.busy_ns, r.kernel_ns, r.graph_ns, r.copy_ns, r.other_ns, r.launch_bound_ns, r.wait_ns, r.call_ns, r.host_ns, r.profiler_ns, r.queued_ns, r.unknown_ns,
    CASE r.basis WHEN 'range' THEN r.launch_bound_ns + r.wait_ns + r.call_ns + r.host_ns + r.profiler_ns + r.queued_ns + r.unknown_ns ELSE r.gpu_span_ns - r.busy_ns END AS idle_ns,
    CASE WHEN r.period_ns IS NOT NULL THEN greatest(r.period_ns - r.gpu_span_ns, 0) END AS between_ns, r.kernel_count, r.memop_count, r.graph_count, r.decode_count, r.token_count, r.is_warmup
FROM r JOIN kind k ON k.source_id = r.source_id AND k.pid IS NOT DISTINCT FROM r.pid AND k.device_id IS NOT DISTINCT FROM r.device_id AND k.stage IS NOT DISTINCT FROM r.stage AND k.name = r.name
