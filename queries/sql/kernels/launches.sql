-- launches v3: Launch path of kernels: time in the launching call, queue time and execution time, as nsys' cuda_kern_exec_sum; with
--     launches per decode step, and kernels shorter than their launch. Warm-up counts too: passes are not told apart yet.
-- grain: one kernel name, launching function, process, thread and GPU
-- key: kernel, api, source_id, pid, tid, device
-- notes: graph timelines launch warm recorded
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: maximum rows; 0 for all
--   stage VARCHAR = NULL: only kernels launched in this stage; (none) for kernels outside every stage
--   device BIGINT = NULL: only this GPU
--   {source}
-- columns:
--   rank: rank by mean total time
--   kernel: demangled name
--   api: launching function; NULL when unknown
--   source_id: the source
--   pid: process
--   tid: thread
--   device: GPU
--   calls: kernels
--   total_mean_ns: mean time from the start of the call to the end of the kernel or of the call, whichever is later
--   total_median_ns: median of total time
--   api_mean_ns: mean time in the call
--   api_median_ns: median time in the call
--   queued: kernels that started after their call returned
--   queue_mean_ns: mean queue time of these, from the end of the call to the start of the kernel; NULL when none was queued
--   queue_median_ns: median queue time
--   kernel_mean_ns: mean duration
--   kernel_median_ns: median duration
--   kernel_sum_ns: sum of the durations
--   per_step_count: kernels launched in decode steps, per decode step of the process (a range named as such: decode_step[#]); NULL when the
--     process has none
--   per_pass_count: kernels per pass of the selected stage in the process, warm-up included; NULL without --stage
--   short_count: kernels shorter than the call that launched only them; NULL when CUDA graph replays launched all
--   short_ratio: short_count as a share of the kernels launched by a call of their own
--   api_sum_ns: time in these calls; NULL when CUDA graph replays launched all: such a call launches many kernels

WITH decode AS (
    SELECT p.path_id
    FROM range_path p
    WHERE p.run_id = run AND regexp_matches(p.name, '(?i)decode[ _-]?(step|forward|iter|iteration)(\b|_#)')
), lies AS ( -- a step is the outermost range so named
    SELECT
        p.path_id,
        s.stage,
        s.stage_path_id,
        min(list_position(p.lineage, d.path_id)) AS step_depth,
        p.depth
    FROM range_path p
    JOIN path_stage s ON s.run_id = p.run_id AND s.path_id = p.path_id
    LEFT JOIN decode d ON list_contains(p.lineage, d.path_id)
    WHERE p.run_id = run
    GROUP BY ALL
), times AS (
    SELECT
        n.source_id,
        n.pid,
        count(*) FILTER (l.step_depth = l.depth) AS steps,
        count(*) FILTER (l.stage = stage AND l.stage_path_id = l.path_id) AS passes
    FROM nvtx_range n JOIN lies l ON l.path_id = n.path_id
    WHERE n.run_id = run
    GROUP BY n.source_id, n.pid
), t AS (
    SELECT
        k.kernel_name_id,
        k.launch_name_id,
        k.source_id,
        k.pid,
        k.tid,
        k.device_id,
        count(*) AS calls,
        avg(
            greatest(k.start_ns + k.duration_ns, k.launch_start_ns + k.launch_duration_ns) - k.launch_start_ns
        ) AS total_mean_ns,
        median(
            greatest(k.start_ns + k.duration_ns, k.launch_start_ns + k.launch_duration_ns) - k.launch_start_ns
        ) AS total_median_ns,
        avg(k.launch_duration_ns) AS api_mean_ns,
        median(k.launch_duration_ns) AS api_median_ns,
        count(*) FILTER (k.start_ns >= k.launch_start_ns + k.launch_duration_ns) AS queued,
        avg(k.start_ns - k.launch_start_ns - k.launch_duration_ns) FILTER (
            k.start_ns >= k.launch_start_ns + k.launch_duration_ns
        ) AS queue_mean_ns,
        median(k.start_ns - k.launch_start_ns - k.launch_duration_ns) FILTER (
            k.start_ns >= k.launch_start_ns + k.launch_duration_ns
        ) AS queue_median_ns,
        avg(k.duration_ns) AS kernel_mean_ns,
        median(k.duration_ns) AS kernel_median_ns,
        sum(k.duration_ns)::BIGINT AS kernel_sum_ns,
        count(l.step_depth) AS in_steps,
        count(*) FILTER (k.graph_node_id IS NULL) AS own,
        count(*) FILTER (k.graph_node_id IS NULL AND k.duration_ns < k.launch_duration_ns) AS short,
        sum(k.launch_duration_ns) FILTER (k.graph_node_id IS NULL)::BIGINT AS api_sum_ns
    FROM kernel k LEFT JOIN lies l ON l.path_id = k.path_id
    WHERE k.run_id = run
        AND k.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND k.launch_start_ns IS NOT NULL
        AND (device IS NULL OR k.device_id = device)
        AND (stage IS NULL OR coalesce(l.stage, '(none)') = stage)
    GROUP BY ALL
), q AS (
    SELECT
        row_number() OVER (
            ORDER BY t.total_mean_ns DESC, n.name, a.name, t.source_id, t.pid, t.tid, t.device_id
        ) AS rank,
        n.name AS kernel,
        a.name AS api,
        t.source_id,
        t.pid,
        t.tid,
        t.device_id AS device,
        t.calls,
        t.total_mean_ns,
        t.total_median_ns,
        t.api_mean_ns,
        t.api_median_ns,
        t.queued,
        t.queue_mean_ns,
        t.queue_median_ns,
        t.kernel_mean_ns,
        t.kernel_median_ns,
        t.kernel_sum_ns,
        t.in_steps,
        t.own,
        t.short,
        t.api_sum_ns
    FROM t
    JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = t.kernel_name_id
    LEFT JOIN api_name a ON a.run_id = n.run_id AND a.api_name_id = t.launch_name_id
)
SELECT
    q.rank,
    q.kernel,
    q.api,
    q.source_id,
    q.pid,
    q.tid,
    q.device,
    q.calls,
    q.total_mean_ns,
    q.total_median_ns,
    q.api_mean_ns,
    q.api_median_ns,
    q.queued,
    q.queue_mean_ns,
    q.queue_median_ns,
    q.kernel_mean_ns,
    q.kernel_median_ns,
    q.kernel_sum_ns,
    q.in_steps / nullif(x.steps, 0) AS per_step_count,
    q.calls / nullif(x.passes, 0) AS per_pass_count,
    CASE WHEN q.own > 0 THEN q.short END AS short_count,
    q.short / nullif(q.own, 0) AS short_ratio,
    q.api_sum_ns
FROM q LEFT JOIN times x ON x.source_id = q.source_id AND x.pid = q.pid
WHERE top = 0 OR q.rank <= top
ORDER BY q.rank
