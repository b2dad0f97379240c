-- launches v3: How kernels get to the device: time in the launching call, wait in the queue, execution; as nsys' cuda_kern_exec_sum. With launches per decode step, and kernels that are shorter than their launch.
-- grain: one kernel name, launching function, process, thread and GPU
-- key: kernel, api, source_id, pid, tid, device
-- notes: graph timelines launch
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: rows at most; 0 for all
--   stage VARCHAR = NULL: only kernels launched in this stage; (none) for those outside every stage
--   device BIGINT = NULL: only this GPU
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   rank: place by mean total time
--   kernel: demangled name
--   api: launching function; NULL when not said
--   source_id: the source
--   pid: process
--   tid: thread
--   device: GPU
--   calls: kernels
--   total_mean_ns: mean time from the start of the call to the end of the kernel or of the call, whichever is later
--   total_median_ns: median of it
--   api_mean_ns: mean time in the call
--   api_median_ns: median of it
--   queued: kernels that began after their call had returned
--   queue_mean_ns: mean time of these from the call's end to the kernel's start; NULL when none
--   queue_median_ns: median of it
--   kernel_mean_ns: mean execution time
--   kernel_median_ns: median of it
--   kernel_sum_ns: sum of the execution times
--   per_step_count: kernels launched within decode steps, per decode step of the process (a range so named: decode_step[#]); NULL when the process has none
--   per_pass_count: kernels per pass of the stage asked for in the process, warm-up included; NULL without --stage
--   short_count: kernels that ran shorter than the call that launched only them; NULL when replays of CUDA graphs launched them all
--   short_ratio: short_count as a share of the kernels that a call of their own launched
--   api_sum_ns: time in these calls; NULL when replays of CUDA graphs launched them all: such a call launches many kernels

WITH decode AS (
    SELECT p.path_id FROM range_path p WHERE p.run_id = run AND regexp_matches(p.name, '(?i)decode[ _-]?(step|forward|iter|iteration)(\b|_#)')
), lies AS ( -- a step is the outermost range so named
    SELECT p.path_id, s.stage, s.stage_path_id, min(list_position(p.lineage, d.path_id)) AS step_depth, p.depth
    FROM range_path p JOIN path_stage s ON s.run_id = p.run_id AND s.path_id = p.path_id LEFT JOIN decode d ON list_contains(p.lineage, d.path_id)
    WHERE p.run_id = run GROUP BY ALL
), times AS (
    SELECT n.source_id, n.pid, count(*) FILTER (l.step_depth = l.depth) AS steps, count(*) FILTER (l.stage = stage AND l.stage_path_id = l.path_id) AS passes
    FROM nvtx_range n JOIN lies l ON l.path_id = n.path_id WHERE n.run_id = run GROUP BY n.source_id, n.pid
), t AS (
    SELECT k.kernel_name_id, k.launch_name_id, k.source_id, k.pid, k.tid, k.device_id, count(*) AS calls,
        avg(greatest(k.start_ns + k.duration_ns, k.launch_start_ns + k.launch_duration_ns) - k.launch_start_ns) AS total_mean_ns,
        median(greatest(k.start_ns + k.duration_ns, k.launch_start_ns + k.launch_duration_ns) - k.launch_start_ns) AS total_median_ns,
        avg(k.launch_duration_ns) AS api_mean_ns, median(k.launch_duration_ns) AS api_median_ns,
        count(*) FILTER (k.start_ns >= k.launch_start_ns + k.launch_duration_ns) AS queued,
        avg(k.start_ns - k.launch_start_ns - k.launch_duration_ns) FILTER (k.start_ns >= k.launch_start_ns + k.launch_duration_ns) AS queue_mean_ns,
        median(k.start_ns - k.launch_start_ns - k.launch_duration_ns) FILTER (k.start_ns >= k.launch_start_ns + k.launch_duration_ns) AS queue_median_ns,
        avg(k.duration_ns) AS kernel_mean_ns, median(k.duration_ns) AS kernel_median_ns, sum(k.duration_ns)::BIGINT AS kernel_sum_ns,
        count(l.step_depth) AS in_steps, count(*) FILTER (k.graph_node_id IS NULL) AS own, count(*) FILTER (k.graph_node_id IS NULL AND k.duration_ns < k.launch_duration_ns) AS short,
        sum(k.launch_duration_ns) FILTER (k.graph_node_id IS NULL)::BIGINT AS api_sum_ns
    FROM kernel k
    LEFT JOIN lies l ON l.path_id = k.path_id
    WHERE k.run_id = run AND k.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t) AND k.launch_start_ns IS NOT NULL AND (device IS NULL OR k.device_id = device)
        AND (stage IS NULL OR coalesce(l.stage, '(none)') = stage)
    GROUP BY ALL
), q AS (
    SELECT row_number() OVER (ORDER BY t.total_mean_ns DESC, n.name, a.name, t.source_id, t.pid, t.tid, t.device_id) AS rank, n.name AS kernel, a.name AS api,
        t.source_id, t.pid, t.tid, t.device_id AS device, t.calls, t.total_mean_ns, t.total_median_ns, t.api_mean_ns, t.api_median_ns, t.queued,
        t.queue_mean_ns, t.queue_median_ns, t.kernel_mean_ns, t.kernel_median_ns, t.kernel_sum_ns, t.in_steps, t.own, t.short, t.api_sum_ns
    FROM t
    JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = t.kernel_name_id
    LEFT JOIN api_name a ON a.run_id = n.run_id AND a.api_name_id = t.launch_name_id
)
SELECT q.rank, q.kernel, q.api, q.source_id, q.pid, q.tid, q.device, q.calls, q.total_mean_ns, q.total_median_ns, q.api_mean_ns, q.api_median_ns,
    q.queued, q.queue_mean_ns, q.queue_median_ns, q.kernel_mean_ns, q.kernel_median_ns, q.kernel_sum_ns,
    q.in_steps / nullif(x.steps, 0) AS per_step_count, q.calls / nullif(x.passes, 0) AS per_pass_count, CASE WHEN q.own > 0 THEN q.short END AS short_count, q.short / nullif(q.own, 0) AS short_ratio, q.api_sum_ns
FROM q LEFT JOIN times x ON x.source_id = q.source_id AND x.pid = q.pid
WHERE top = 0 OR q.rank <= top
ORDER BY q.rank
