-- _unmet: Launches without device work that are evidence of a loss.
-- grain: one function of one thread in one set of ranges
-- key: source_id, pid, tid, range_context_id, api_name_id
-- needs: unmet_launch
-- columns:
--   source_id INTEGER: the source
--   pid INTEGER: calling process
--   range_context_id BIGINT: the set of ranges the calls were made in; 0 outside every range
--   path_id BIGINT: the path of names of these ranges
--   call_count BIGINT: calls
--   first_start_ns BIGINT: start of the first of them

-- Copies within a process, and copies and fills of no bytes, have calls and no records: of copies those count that are asynchronous, and
-- where a tenth of a process's have none. Ranges of CUPTI may be counted in place of kernels.
WITH u AS (
    SELECT
        u.source_id,
        u.pid,
        u.range_context_id,
        u.path_id,
        u.call_count,
        u.first_start_ns,
        u.kind = 'copy' AS is_copy
    FROM unmet_launch u JOIN api_name n ON n.run_id = u.run_id AND n.api_name_id = u.api_name_id
    WHERE u.run_id = $run
        AND (
            u.kind IN ('kernel', 'graph')
            OR u.kind = 'copy' AND (contains(n.name, 'Async') OR contains(n.name, 'WithStream'))
        )
        AND u.source_id NOT IN (SELECT p.source_id FROM ncu_launch p WHERE p.run_id = $run)
), copied AS (
    SELECT
        m.source_id,
        m.pid,
        count(*) AS n
    FROM memop m
    WHERE m.run_id = $run
        AND m.operation LIKE 'memcpy%'
        AND m.graph_node_id IS NULL
        AND m.source_id IN (SELECT u.source_id FROM u WHERE u.is_copy)
    GROUP BY m.source_id, m.pid
), many AS (
    SELECT u.source_id, u.pid
    FROM u LEFT JOIN copied c ON c.source_id = u.source_id AND c.pid = u.pid
    WHERE u.is_copy
    GROUP BY u.source_id, u.pid
    HAVING sum(u.call_count) >= 3 AND sum(u.call_count) > 0.1 * coalesce(max(c.n), 0)
)
SELECT u.source_id, u.pid, u.range_context_id, u.path_id, u.call_count, u.first_start_ns
FROM u LEFT JOIN many m ON m.source_id = u.source_id AND m.pid = u.pid
WHERE NOT u.is_copy OR m.source_id IS NOT NULL
