-- _lost_launch: Launches without device work.
-- grain: one kind of loss in a stage of a process
-- key: kind, source_id, pid, stage
-- needs: _unmet
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

WITH launch AS (
    SELECT k.source_id, k.pid, k.path_id, k.launch_start_ns, k.correlation_id
    FROM kernel k
    WHERE k.run_id = $run AND k.launch_start_ns IS NOT NULL AND k.source_id IN (SELECT u.source_id FROM _unmet u)
    UNION ALL
    SELECT g.source_id, g.pid, g.path_id, g.launch_start_ns, g.correlation_id
    FROM graph_launch g
    WHERE g.run_id = $run
        AND g.launch_start_ns IS NOT NULL
        AND g.mode = 'graph'
        AND g.source_id IN (SELECT u.source_id FROM _unmet u)
), last AS (
    SELECT
        l.source_id,
        l.pid,
        max(l.launch_start_ns) AS launch_start_ns
    FROM launch l
    GROUP BY l.source_id, l.pid
), met AS (
    SELECT
        l.source_id,
        coalesce(s.stage, '(none)') AS stage,
        count(DISTINCT (l.pid, l.correlation_id)) AS n
    FROM launch l LEFT JOIN path_stage s ON s.run_id = $run AND s.path_id = l.path_id
    GROUP BY ALL
), lost AS (
    SELECT
        CASE
            WHEN u.first_start_ns > l.launch_start_ns THEN 'ran-after-capture'
            ELSE 'launches-without-work'
        END AS kind,
        u.source_id,
        u.pid,
        coalesce(s.stage, '(none)') AS stage,
        sum(u.call_count)::BIGINT AS n
    FROM _unmet u
    LEFT JOIN path_stage s ON s.run_id = $run AND s.path_id = u.path_id
    LEFT JOIN last l ON l.source_id = u.source_id AND l.pid = u.pid
    GROUP BY ALL
)
SELECT
    l.kind,
    l.source_id,
    l.pid,
    NULL::INTEGER AS device_id,
    l.stage,
    l.kind = 'ran-after-capture' AS is_cut,
    l.n AS item_count,
    (sum(l.n) OVER (PARTITION BY l.source_id, l.stage) + coalesce(m.n, 0))::BIGINT AS of_count,
    NULL::BIGINT AS time_ns,
    NULL::VARCHAR AS detail
FROM lost l LEFT JOIN met m ON m.source_id = l.source_id AND m.stage = l.stage
