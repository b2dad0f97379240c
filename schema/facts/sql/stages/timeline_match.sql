-- timeline_match: Stages that prof's tracer and Nsight Systems both recorded, and whether the two agree in the kernels of the same passes:
--     the recordings of one number (repeat) of a capture, where both have as many measured passes and lost nothing.
-- grain: one stage on one GPU
-- key: stage, device_id
-- needs: capture_source
-- columns:
--   stage VARCHAR: the stage
--   device_id INTEGER: GPU
--   pass_count BIGINT: passes that are compared, of each
--   kernel_count BIGINT: kernels in them, by the first of {callers}
--   other_kernel_count BIGINT: the same by the other
--   kernel_ns BIGINT: sum of the durations of their kernels without collectives, whose waits differ, by the first
--   other_kernel_ns BIGINT: the same by the other
--   reason VARCHAR: count or time where they differ; NULL where the two agree: in number within 1 %, and in time within that too, or as far
--     as the passes of either differ among themselves (5 % where fewer than three tell)

-- Of passes of several sizes it is not known that the two did the same: those of each side must have as many kernels, within 1 %.
WITH recorded AS (
    SELECT t.source_id, t.kind, r.repeat_id
    FROM timeline t JOIN _source_repeat r ON r.source_id = t.source_id
    WHERE t.run_id = $run AND t.kind IN ({'callers'})
), work AS (
    SELECT
        p.stage,
        x.kind,
        x.repeat_id,
        w.device_id,
        w.range_id,
        coalesce(sum(w.launch_count) FILTER (w.kind = 'kernel'), 0)::BIGINT AS kernel_count,
        coalesce(sum(w.launch_count) FILTER (w.kind = 'graph'), 0)::BIGINT AS graph_count,
        coalesce(sum(w.sum_ns) FILTER (w.kind = 'kernel' AND c.role IS DISTINCT FROM 'collective'), 0)::BIGINT AS ns
    FROM work_sum w
    JOIN recorded x ON x.source_id = w.source_id
    JOIN stage_pass p
        ON p.run_id = $run AND p.range_id = w.range_id AND NOT p.is_warmup AND p.gpu_span_ns IS NOT NULL
    LEFT JOIN kernel_class c ON c.run_id = $run AND c.kernel_name_id = w.kernel_name_id
    WHERE w.run_id = $run
    GROUP BY p.stage, x.kind, x.repeat_id, w.device_id, w.range_id
), side AS (
    SELECT
        w.stage,
        w.kind,
        w.repeat_id,
        w.device_id,
        count(*) AS passes,
        sum(w.kernel_count)::BIGINT AS kernels,
        sum(w.graph_count)::BIGINT AS graphs,
        sum(w.ns)::BIGINT AS ns,
        min(w.ns) AS min_ns,
        max(w.ns) AS max_ns
    FROM work w
    GROUP BY w.stage, w.kind, w.repeat_id, w.device_id
    HAVING min(w.kernel_count) >= 0.99 * max(w.kernel_count)
), pair AS (
    SELECT
        a.stage,
        a.device_id,
        sum(a.passes)::BIGINT AS passes,
        sum(a.kernels)::BIGINT AS kernels,
        sum(b.kernels)::BIGINT AS other_kernels,
        sum(a.ns)::BIGINT AS ns,
        sum(b.ns)::BIGINT AS other_ns,
        max(a.max_ns) >= min(b.min_ns) AND max(b.max_ns) >= min(a.min_ns) AS is_mixed
    FROM side a
    JOIN side b
        ON b.stage = a.stage
        AND b.device_id = a.device_id
        AND b.repeat_id = a.repeat_id
        AND b.passes = a.passes
        AND b.graphs = a.graphs
        AND array_position([{'callers'}], a.kind) < array_position([{'callers'}], b.kind)
    WHERE a.kernels > 0 AND b.kernels > 0
    GROUP BY a.stage, a.device_id
)
SELECT
    p.stage,
    p.device_id,
    p.passes AS pass_count,
    p.kernels AS kernel_count,
    p.other_kernels AS other_kernel_count,
    p.ns AS kernel_ns,
    p.other_ns AS other_kernel_ns,
    CASE
        WHEN abs(p.kernels - p.other_kernels) > 0.01 * p.kernels THEN 'count'
        WHEN abs(p.ns - p.other_ns) > CASE WHEN p.passes < 3 THEN 0.05 ELSE 0.01 END * p.ns AND NOT p.is_mixed THEN 'time'
    END AS reason
FROM pair p
