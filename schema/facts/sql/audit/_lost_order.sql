-- _lost_order: Device work that cannot have been as it is recorded, and work without its launch.
-- grain: one kind of loss in a stage of a process on a GPU
-- key: kind, source_id, pid, device_id, stage
-- needs: work_fault
-- columns:
--   kind VARCHAR: as in loss
--   source_id INTEGER: as in loss, like all columns below
--   pid INTEGER: process
--   device_id INTEGER: GPU
--   stage VARCHAR: stage
--   is_cut BOOLEAN: whether the beginning or end of the capture cut it off
--   item_count BIGINT: how many
--   of_count BIGINT: of how many
--   time_ns BIGINT: device time
--   detail VARCHAR: what else it says

-- rocprof may record kernels alone, and a table of nsys stats has nothing else: then no launch is lost.
WITH f AS (
    SELECT
        f.kind,
        f.source_id,
        f.pid,
        f.device_id,
        CASE
            WHEN f.path_id IS NOT NULL THEN coalesce(s.stage, '(none)')
            WHEN f.kind = 'launched-before-capture' THEN '(none)'
        END AS stage,
        f.work_count,
        f.sum_ns
    FROM work_fault f LEFT JOIN path_stage s ON s.run_id = f.run_id AND s.path_id = f.path_id
    WHERE f.run_id = $run
        AND f.kind IN (
            'repeated-records', 'no-time', 'work-before-launch', 'work-after-wait', 'stream-overlap', 'stream-order',
            'work-without-launch', 'launched-before-capture'
        )
        AND (
            f.kind <> 'work-without-launch'
            OR f.source_id IN (
                SELECT s.source_id
                FROM source s
                WHERE s.run_id = $run AND (s.kind = 'nsys' AND s.form <> 'nsys-gpu-trace' OR s.kind = 'prof')
                UNION ALL
                SELECT a.source_id
                FROM api_call a
                WHERE a.run_id = $run
                UNION ALL
                SELECT a.source_id
                FROM api_sum a
                WHERE a.run_id = $run
                UNION ALL
                SELECT o.source_id
                FROM op_source o
                WHERE o.run_id = $run
            )
        )
)
SELECT
    f.kind,
    f.source_id,
    f.pid,
    f.device_id,
    f.stage,
    f.kind = 'launched-before-capture' AS is_cut,
    sum(f.work_count)::BIGINT AS item_count,
    NULL::BIGINT AS of_count,
    sum(f.sum_ns)::BIGINT AS time_ns,
    NULL::VARCHAR AS detail
FROM f
GROUP BY ALL
