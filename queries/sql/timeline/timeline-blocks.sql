-- timeline-blocks v1: Device work merged into blocks for charts: work of one kind that starts in the same small time bin is one block with
--     its busy time. A block never contains an idle time longer than a bin.
-- grain: one GPU, kind of work and time bin of the capture
-- key: source_id, device, lane, start_ns
-- notes: graph timelines accounting
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only this GPU
--   blocks BIGINT = 4000: time bins of equal length from the first start to the last end of device work, at least 1
--   {source}
-- columns:
--   device: GPU
--   lane: kernel, collective, graph (replays traced as a whole) or copy (copies and fills)
--   start_ns: start of its first work, from the start of the source
--   end_ns: end of its last work
--   busy_ns: time in which its work ran, excluding time covered by the previous block of the lane: the blocks of a lane add up to the union
--     of its work's intervals
--   work_count: kernels, graph replays, copies and fills in it
--   longest: longest work in it: kernel, copy, fill or graph replay
--   longest_ns: duration of that work
--   source_id: the source

-- Lanes and operations are numbers until the end: sorting millions of rows with texts takes several times as long.
WITH operation AS (
    SELECT
        o.operation,
        row_number() OVER (ORDER BY o.operation) AS id
    FROM (SELECT DISTINCT m.operation FROM memop m WHERE m.run_id = run) o
), kname AS (
    SELECT
        n.kernel_name_id,
        n.name_hash,
        n.name,
        CASE c.role WHEN 'collective' THEN 2 ELSE 1 END AS lane
    FROM kernel_name n
    LEFT JOIN kernel_class c ON c.run_id = n.run_id AND c.kernel_name_id = n.kernel_name_id
    WHERE n.run_id = run
), work AS (
    SELECT
        k.source_id,
        k.device_id,
        n.lane,
        k.start_ns,
        k.duration_ns,
        n.name_hash AS name_id
    FROM kernel k JOIN kname n ON n.kernel_name_id = k.kernel_name_id
    WHERE k.run_id = run
    UNION ALL
    SELECT m.source_id, m.device_id, 4, m.start_ns, m.duration_ns, o.id
    FROM memop m JOIN operation o ON o.operation = m.operation
    WHERE m.run_id = run
    UNION ALL
    SELECT g.source_id, g.device_id, 3, g.start_ns, g.duration_ns, 0
    FROM graph_launch g
    WHERE g.run_id = run AND g.mode = 'graph'
), w AS (
    SELECT
        w.source_id,
        w.device_id,
        w.lane,
        w.start_ns,
        w.duration_ns,
        w.name_id,
        max(w.start_ns + w.duration_ns) OVER (
            PARTITION BY w.source_id, w.device_id, w.lane
            ORDER BY w.start_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS until_ns
    FROM work w
    WHERE w.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND (device IS NULL OR w.device_id = device)
), whole AS (
    SELECT
        min(d.start_ns) AS start_ns,
        (max(d.end_ns) - min(d.start_ns)) // any_value(greatest(blocks, 1)) + 1 AS part_ns
    FROM device_time d
    WHERE d.run_id = run
        AND d.range_id IS NULL
        AND d.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND (device IS NULL OR d.device_id = device)
    HAVING count(*) > 0
), b AS (
    SELECT
        w.source_id,
        w.device_id,
        w.lane,
        min(w.start_ns) AS start_ns,
        max(w.start_ns + w.duration_ns) AS end_ns,
        sum(greatest(
            w.start_ns + w.duration_ns - greatest(w.start_ns, coalesce(w.until_ns, w.start_ns)),
            0
        ))::BIGINT AS busy_ns,
        count(*) AS work_count,
        max(w.duration_ns) AS longest_ns,
        arg_max(w.name_id, (w.duration_ns, w.name_id)) AS longest_id
    FROM w CROSS JOIN whole a
    GROUP BY w.source_id, w.device_id, w.lane, (w.start_ns - a.start_ns) // a.part_ns
)
SELECT
    b.device_id AS device,
    ['kernel', 'collective', 'graph', 'copy'][b.lane] AS lane,
    b.start_ns,
    b.end_ns,
    b.busy_ns,
    b.work_count,
    CASE b.lane WHEN 3 THEN 'graph replay' WHEN 4 THEN o.operation ELSE n.name END AS longest,
    b.longest_ns,
    b.source_id
FROM b
LEFT JOIN kname n ON b.lane < 3 AND n.name_hash = b.longest_id
LEFT JOIN operation o ON b.lane = 4 AND o.id = b.longest_id
ORDER BY b.source_id, b.device_id, b.lane, b.start_ns
