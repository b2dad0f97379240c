-- _finding_path: By how much faster kernels could shorten a stage, by the critical paths of its median and slowest pass or step: the rest
--     of their time is hidden, as where the next launch arrives late anyway.
-- grain: one stage, GPU and kernel name, of one kind of timeline
-- key: kind, stage, device_id, kernel_name_id
-- needs: device_time critical_step
-- columns:
--   kind VARCHAR: {timelines}
--   stage VARCHAR: the stage; NULL: all device work of a timeline without measured passes, by its steps
--   device_id INTEGER: GPU
--   kernel_name_id BIGINT: kernel name
--   saving_ns DOUBLE: by how much the measured passes would be shorter if all kernels of this name took no time: that share of their time
--     which these passes show, the highest of them

WITH step AS (
    SELECT
        t.kind,
        s.step_id,
        s.source_id,
        CASE WHEN t.is_staged THEN s.stage END AS stage,
        s.range_id,
        s.pid,
        s.device_id,
        s.start_ns,
        s.end_ns
    FROM critical_step s
    JOIN _critical_known k ON k.step_id = s.step_id
    JOIN _finding_timeline t ON t.source_id = s.source_id
    WHERE s.run_id = $run AND (s.basis = 'pass' OR NOT t.is_staged)
), late AS (
    -- DuckDB holds one side of the join below in memory, and takes that of kernels, whose number it does not know: of a run with passes
    -- none
    SELECT k.source_id, k.pid, k.device_id, k.kernel_name_id, k.start_ns, k.duration_ns
    FROM kernel k, (SELECT min(s.start_ns) AS start_ns, max(s.end_ns) AS end_ns FROM step s WHERE s.stage IS NULL) x
    WHERE k.run_id = $run AND k.start_ns >= x.start_ns AND k.start_ns < x.end_ns
), work AS (
    SELECT
        s.kind,
        s.step_id,
        s.stage,
        k.device_id,
        k.kernel_name_id,
        sum(k.sum_ns) AS sum_ns
    FROM step s
    JOIN _finding_place p ON p.range_id = s.range_id AND p.stage = s.stage
    JOIN _kernel_sum k ON k.source_id = s.source_id AND k.range_context_id = p.range_context_id
    GROUP BY s.kind, s.step_id, s.stage, k.device_id, k.kernel_name_id
    UNION ALL -- work of steps outside passes goes by time: other threads of the process launch some of it
    SELECT
        s.kind,
        s.step_id,
        s.stage,
        k.device_id,
        k.kernel_name_id,
        sum(k.duration_ns)
    FROM step s
    JOIN late k ON k.source_id = s.source_id AND k.start_ns >= s.start_ns AND k.start_ns < s.end_ns
    WHERE s.stage IS NULL AND k.pid = s.pid AND (s.device_id IS NULL OR k.device_id = s.device_id)
    GROUP BY s.kind, s.step_id, s.stage, k.device_id, k.kernel_name_id
), part AS ( -- what is not on the path shortens nothing; a saving is of a kernel on all GPUs
    SELECT
        q.kind,
        q.stage,
        q.device_id,
        q.kernel_name_id,
        max(CASE WHEN w.step_id IS NULL THEN 0 ELSE w.saving_ns / q.all_ns END) AS path_ratio,
        bool_and(w.step_id IS NULL OR w.saving_ns IS NOT NULL) AS is_known
    FROM (
        SELECT
            x.kind,
            x.step_id,
            x.stage,
            x.device_id,
            x.kernel_name_id,
            sum(x.sum_ns) OVER (PARTITION BY x.step_id, x.kernel_name_id) AS all_ns
        FROM work x
    ) q
    LEFT JOIN critical_what_if w
        ON w.run_id = $run
        AND w.step_id = q.step_id
        AND w.grouping_kind = 'subject'
        AND w.cause = 'kernel'
        AND w.kernel_name_id = q.kernel_name_id
    WHERE q.all_ns > 0
    GROUP BY q.kind, q.stage, q.device_id, q.kernel_name_id
), whole AS (
    SELECT
        w.kind,
        w.stage,
        w.device_id,
        w.kernel_name_id,
        sum(w.sum_ns) AS sum_ns
    FROM _finding_work w
    GROUP BY w.kind, w.stage, w.device_id, w.kernel_name_id
)
SELECT
    p.kind,
    p.stage,
    p.device_id,
    p.kernel_name_id,
    least(p.path_ratio, 1) * w.sum_ns AS saving_ns
FROM part p
JOIN whole w
    ON w.kind = p.kind
    AND w.stage IS NOT DISTINCT FROM p.stage
    AND w.device_id = p.device_id
    AND w.kernel_name_id = p.kernel_name_id
WHERE p.is_known
