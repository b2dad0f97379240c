-- _stage_range: Each pass of each stage as the timeline has it, with its place among the passes of its process in all windows of a session.
-- grain: one outermost range of a stage
-- key: range_id
-- needs: nvtx_range
-- columns:
--   stage VARCHAR: the stage, by stage_rule
--   range_id BIGINT: the range
--   source_id INTEGER: the source
--   series_id INTEGER: the first source of its session, see _source_window
--   nth_at_ns BIGINT: CPU start time, from the start of that source
--   pid INTEGER: process
--   path_id BIGINT: normalised names of the ranges, by range_path
--   is_named_step BOOLEAN: whether the name as recorded calls it a decode step
--   start_ns BIGINT: CPU start time
--   end_ns BIGINT: CPU end time; NULL when it never ended
--   is_ruled BOOLEAN: whether a warm-up rule matches its name
--   back_count BIGINT: 1 for the last pass of the stage in its process, 2 for the one before, ...; NULL where is_ruled
--   stage_count BIGINT: passes of the stage in its process, those left out where is_ruled; NULL where is_ruled
--   prefill_count BIGINT: the same for the stage prefill
--   nth_prefill_count BIGINT: prefills of its process that had begun by its start, itself included; NULL where is_ruled
--   nth BIGINT: 1, 2, ... among the passes of its stage with the same nth_prefill_count
--   group_count BIGINT: how many these are
--   cpu_ns BIGINT: CPU time; NULL when it never ended
--   lost_count BIGINT: launches without work, and pieces of work whose record cannot be right, by _range_loss; 0 when its device work is
--     known
--   gpu_span_ns BIGINT: GPU span: first start to last end of its device work; NULL without device work, and when some of it is lost, like
--     the next six
--   gpu_busy_ns BIGINT: GPU busy time: union of its device intervals, summed over GPUs
--   gpu_sum_ns BIGINT: sum of the durations of its device work
--   kernel_sum_ns BIGINT: sum of its kernel durations
--   kernel_count BIGINT: kernels
--   memop_count BIGINT: copies and fills
--   graph_count BIGINT: graph replays traced as a whole
--   device_count BIGINT: GPUs that run its work

-- CASE and not FILTER: a filtered count over a window takes DuckDB 1.5.5 a time that grows with the square of the passes.
WITH pass AS (
    SELECT
        s.stage,
        n.range_id,
        n.source_id,
        coalesce(w.series_id, n.source_id) AS series_id,
        coalesce(w.begin_ns, 0) + n.start_ns AS nth_at_ns,
        n.pid,
        n.path_id,
        s.stage = 'decode'
        AND regexp_matches(n.name, '(?i)decode[ _-]?(step|forward|iter|iteration)\b') AS is_named_step,
        n.start_ns,
        n.duration_ns AS cpu_ns,
        n.start_ns + n.duration_ns AS end_ns,
        s.is_warmup AS is_ruled
    FROM nvtx_range n
    JOIN path_stage s ON s.run_id = n.run_id AND s.path_id = n.path_id AND s.stage_path_id = n.path_id
    JOIN timeline t ON t.run_id = n.run_id AND t.source_id = n.source_id
    LEFT JOIN _source_window w ON w.source_id = n.source_id
    WHERE n.run_id = $run
), place AS (
    SELECT
        p.range_id,
        p.stage,
        p.series_id,
        p.pid,
        p.nth_at_ns,
        row_number() OVER (
            PARTITION BY p.stage, p.series_id, p.pid
            ORDER BY p.nth_at_ns DESC, p.range_id DESC
        ) AS back_count,
        count(*) OVER (PARTITION BY p.stage, p.series_id, p.pid) AS stage_count,
        count(CASE WHEN p.stage = 'prefill' THEN 1 END) OVER (PARTITION BY p.series_id, p.pid) AS prefill_count,
        count(CASE WHEN p.stage = 'prefill' THEN 1 END) OVER (
            PARTITION BY p.series_id, p.pid
            ORDER BY p.nth_at_ns
        ) AS nth_prefill_count
    FROM pass p
    WHERE NOT p.is_ruled
), nth AS (
    SELECT
        p.range_id,
        p.back_count,
        p.stage_count,
        p.prefill_count,
        p.nth_prefill_count,
        row_number() OVER (
            PARTITION BY p.stage, p.series_id, p.pid, p.nth_prefill_count
            ORDER BY p.nth_at_ns, p.range_id
        ) AS nth,
        count(*) OVER (PARTITION BY p.stage, p.series_id, p.pid, p.nth_prefill_count) AS group_count
    FROM place p
), work AS (
    SELECT
        d.range_id,
        max(d.last_end_ns) - min(d.first_start_ns) AS gpu_span_ns,
        sum(d.busy_ns)::BIGINT AS gpu_busy_ns,
        sum(d.sum_ns)::BIGINT AS gpu_sum_ns,
        sum(d.kernel_sum_ns)::BIGINT AS kernel_sum_ns,
        sum(d.kernel_count)::BIGINT AS kernel_count,
        sum(d.memop_count)::BIGINT AS memop_count,
        sum(d.graph_count)::BIGINT AS graph_count,
        count(DISTINCT d.device_id) AS device_count
    FROM range_device d
    WHERE d.run_id = $run AND d.range_id IN (SELECT p.range_id FROM pass p)
    GROUP BY d.range_id
)
SELECT
    p.stage,
    p.range_id,
    p.source_id,
    p.series_id,
    p.nth_at_ns,
    p.pid,
    p.path_id,
    p.is_named_step,
    p.start_ns,
    p.end_ns,
    p.is_ruled,
    b.back_count,
    b.stage_count,
    b.prefill_count,
    b.nth_prefill_count,
    b.nth,
    b.group_count,
    p.cpu_ns,
    coalesce(x.item_count, 0) AS lost_count,
    CASE WHEN lost_count = 0 THEN w.gpu_span_ns END AS gpu_span_ns,
    CASE WHEN lost_count = 0 THEN coalesce(w.gpu_busy_ns, 0) END AS gpu_busy_ns,
    CASE WHEN lost_count = 0 THEN coalesce(w.gpu_sum_ns, 0) END AS gpu_sum_ns,
    CASE WHEN lost_count = 0 THEN coalesce(w.kernel_sum_ns, 0) END AS kernel_sum_ns,
    CASE WHEN lost_count = 0 THEN coalesce(w.kernel_count, 0) END AS kernel_count,
    CASE WHEN lost_count = 0 THEN coalesce(w.memop_count, 0) END AS memop_count,
    CASE WHEN lost_count = 0 THEN coalesce(w.graph_count, 0) END AS graph_count,
    coalesce(w.device_count, 0) AS device_count
FROM pass p
LEFT JOIN work w ON w.range_id = p.range_id
LEFT JOIN nth b ON b.range_id = p.range_id
LEFT JOIN _range_loss x ON x.range_id = p.range_id
