-- note_range: Notes: named parts inside a stage, such as the vision towers in prefill, with the device work launched inside them; already
--     contained in the stage.
-- grain: one outermost range of a note on one GPU with its work; one row for a range without device work
-- key: range_id, device_id
-- needs: nvtx_range
-- columns:
--   range_id BIGINT: the range
--   source_id INTEGER: the source
--   pid INTEGER: process
--   stage VARCHAR: the stage around it, by stage_rule; NULL outside every stage
--   note VARCHAR: the note, by stage_rule
--   pass_range_id BIGINT: the pass of that stage in which it began; NULL outside every pass
--   start_ns BIGINT: CPU start time
--   cpu_ns BIGINT: CPU time; NULL when it never ended
--   is_warmup BOOLEAN: whether a warm-up rule matches, or its pass is warm-up
--   device_id INTEGER: GPU; NULL without device work, like the next five columns
--   first_start_ns BIGINT: start of its first device work
--   last_end_ns BIGINT: end of its last device work
--   busy_ns BIGINT: GPU busy time: union of its device intervals
--   sum_ns BIGINT: sum of the durations of its kernels, copies, fills and graph replays
--   kernel_count BIGINT: kernels

WITH n AS (
    SELECT
        n.range_id,
        n.source_id,
        n.pid,
        s.stage,
        s.note,
        n.start_ns,
        n.duration_ns AS cpu_ns,
        s.is_warmup
    FROM nvtx_range n
    JOIN path_stage s ON s.run_id = n.run_id AND s.path_id = n.path_id AND s.note_path_id = n.path_id
    JOIN timeline t ON t.run_id = n.run_id AND t.source_id = n.source_id
    WHERE n.run_id = $run
)
SELECT
    n.range_id,
    n.source_id,
    n.pid,
    n.stage,
    n.note,
    (
        SELECT arg_max(p.range_id, (p.start_ns, p.range_id))
        FROM stage_pass p
        WHERE p.run_id = $run
            AND p.stage = n.stage
            AND p.source_id = n.source_id
            AND p.pid = n.pid
            AND n.start_ns >= p.start_ns
            AND n.start_ns < p.end_ns
    ) AS pass_range_id,
    n.start_ns,
    n.cpu_ns,
    n.is_warmup
    OR EXISTS (
        SELECT 1
        FROM stage_pass p
        WHERE p.run_id = $run
            AND p.is_warmup
            AND p.source_id = n.source_id
            AND p.pid = n.pid
            AND n.start_ns >= p.start_ns
            AND n.start_ns < p.end_ns
    ) AS is_warmup,
    d.device_id,
    d.first_start_ns,
    d.last_end_ns,
    d.busy_ns,
    d.sum_ns,
    d.kernel_count
FROM n LEFT JOIN range_device d ON d.run_id = $run AND d.range_id = n.range_id
