-- pass-work v1: Device work per stage pass, and per source outside all passes: kernels by name, grid and block, copies by operation, and
--     graph replays traced as a whole. The rows add up to all device work of the counted capture.
-- grain: one pass and kernel name with grid and block, copy operation, or all graph replays
-- key: source_id, range_id, kind, name, grid, block
-- notes: graph launch
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage; (none) for work outside every pass of a stage
-- columns:
--   stage: the stage, by stage_rule; (none) outside every pass of a stage; NULL in a run without stage passes
--   pass: pass number within the stage, source and process, as in passes, from 1; NULL outside passes; 1 in a run without stage passes
--   repeat: repeat of the workload, from 1, when prof capture ran it several times; else 1
--   source_id: the source
--   pid: process of the pass; NULL outside passes
--   range_id: range of the pass; 0 outside passes
--   is_warmup: whether stages excludes the pass
--   kind: kernel, copy (fills included) or graph
--   kernel_name_id: kernel_name_id of a kernel; NULL for other work
--   name: full kernel name, copy operation, or graph replay
--   family: kernel family by kernel_rule; NULL when no rule matches, and for other work
--   role: what kernels of the family do; NULL when no rule matches
--   grid: grid size in blocks, x * y * z; NULL when the capture has none, and for other work
--   block: block size in threads, x * y * z; NULL when the capture has none
--   launch_count: executions
--   sum_ns: sum of their durations, over all GPUs
--   min_ns: shortest; NULL where sums do not say it
--   max_ns: longest; NULL where sums do not say it
--   deviation_ns2: sum of squared deviations of the durations from their mean; divided by launch_count - 1 it is the variance

-- Of the work of several GPUs the sums of squares are added up as whole numbers, in which the order does not show. The run is looked for
-- twice and not in each table, as that is what planning this takes longest for: filters reach the other tables through the joins.
SELECT
    coalesce(p.stage, none.stage) AS stage,
    coalesce(p.pass_id, CASE WHEN none.stage IS NULL THEN 1 END) AS pass,
    w.repeat_id AS repeat,
    w.source_id,
    p.pid,
    w.range_id,
    coalesce(p.is_warmup, false) AS is_warmup,
    w.kind,
    w.kernel_name_id,
    coalesce(n.name, w.operation, 'graph replay') AS name,
    c.family,
    c.role,
    _dims(w.grid_x, w.grid_y, w.grid_z) AS grid,
    _dims(w.block_x, w.block_y, w.block_z) AS block,
    w.launch_count,
    w.sum_ns,
    w.min_ns,
    w.max_ns,
    w.deviation_ns2
FROM (
    SELECT
        w.run_id,
        w.is_counted,
        w.source_id,
        w.range_id,
        w.repeat_id,
        w.kind,
        w.kernel_name_id,
        w.operation,
        w.grid_x,
        w.grid_y,
        w.grid_z,
        w.block_x,
        w.block_y,
        w.block_z,
        sum(w.launch_count)::BIGINT AS launch_count,
        sum(w.sum_ns)::BIGINT AS sum_ns,
        min(w.min_ns) AS min_ns,
        max(w.max_ns) AS max_ns,
        CASE
            WHEN count(*) = 1 THEN max(w.deviation_ns2)
            ELSE greatest(
                sum((w.deviation_ns2 + w.sum_ns::DOUBLE * w.sum_ns / w.launch_count)::HUGEINT)::DOUBLE
                    - sum(w.sum_ns)::DOUBLE * sum(w.sum_ns)::DOUBLE / sum(w.launch_count)::DOUBLE,
                0
            )
        END AS deviation_ns2
    FROM work_sum w
    GROUP BY w.run_id, w.is_counted, w.source_id, w.range_id, w.repeat_id, w.kind, w.kernel_name_id, w.operation,
        w.grid_x, w.grid_y, w.grid_z, w.block_x, w.block_y, w.block_z
) w
CROSS JOIN (
    SELECT CASE
        WHEN EXISTS (SELECT 1 FROM stage_pass s WHERE s.run_id = run AND s.is_counted) THEN '(none)'
    END AS stage
) none
LEFT JOIN stage_pass p ON p.run_id = w.run_id AND p.source_id = w.source_id AND p.range_id = w.range_id
LEFT JOIN kernel_name n ON n.run_id = w.run_id AND n.kernel_name_id = w.kernel_name_id
LEFT JOIN kernel_class c ON c.run_id = w.run_id AND c.kernel_name_id = w.kernel_name_id
WHERE w.run_id = run AND w.is_counted AND (stage IS NULL OR coalesce(p.stage, none.stage) = stage)
ORDER BY coalesce(array_position(['prefill', 'decode', '(none)'], coalesce(p.stage, none.stage)), 2.5), p.stage,
    w.source_id, p.pid, p.pass_id, w.sum_ns DESC, name, w.grid_x, w.grid_y, w.grid_z, w.block_x, w.block_y, w.block_z
