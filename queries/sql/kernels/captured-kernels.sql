-- captured-kernels v1: Kernels, copies and fills of CUDA graph replays by the ranges in which the graph was captured, such as those of
--     layers. The rows add up to the work of all replays that were traced by node. Warm-up counts too: it lists what the capture has.
-- grain: one path of ranges, and one kernel name or operation
-- key: path, kind, kernel
-- notes: timelines warm recorded
-- params:
--   run VARCHAR: the run
--   path VARCHAR = NULL: only captures in paths that match one of these globs, separated by commas
--   raw BOOLEAN = false: paths of names as recorded instead of normalised ones
--   stage VARCHAR = NULL: only replays launched in this stage; (none) for those outside every stage
--   device BIGINT = NULL: only this GPU
--   top BIGINT = 20: maximum rows; 0 for all
--   {source}
-- columns:
--   rank: rank by total time
--   path: ranges that were open on the thread that captured the work, outermost first, joined by ' > '; (none) outside every range, (not
--     recorded) when the graph was made before the profiler recorded, or under prof's own tracer, which does not record how graphs are made
--   kernel: demangled kernel name, or operation of a copy or fill
--   kind: kernel, memcpy or memset
--   calls: executions in replays
--   total_ns: sum of the durations
--   share_ratio: total_ns as a share of the work of all replays, in the selected stage and on the selected GPU
--   mean_ns: mean duration
--   min_ns: shortest duration
--   max_ns: longest duration

WITH RECURSIVE up AS (
    SELECT DISTINCT
        c.range_id AS leaf_id,
        c.range_id AS at_id,
        []::VARCHAR[] AS names
    FROM captured_work c
    WHERE raw AND c.run_id = run AND c.range_id IS NOT NULL
    UNION ALL
    SELECT
        u.leaf_id,
        n.parent_range_id,
        list_prepend(n.name, u.names)
    FROM up u JOIN nvtx_range n ON n.run_id = run AND n.range_id = u.at_id
), recorded AS (
    SELECT
        u.leaf_id,
        array_to_string(u.names, ' > ') AS path
    FROM up u
    WHERE u.at_id IS NULL
), w AS (
    SELECT
        CASE
            WHEN NOT c.is_known THEN '(not recorded)'
            WHEN c.range_id IS NULL THEN '(none)'
            WHEN raw THEN u.path
            ELSE p.path
        END AS path,
        coalesce(n.name, c.operation) AS kernel,
        CASE
            WHEN n.name IS NOT NULL THEN 'kernel'
            WHEN starts_with(lower(c.operation), 'memset') THEN 'memset'
            ELSE 'memcpy'
        END AS kind,
        c.call_count,
        c.total_ns,
        c.min_ns,
        c.max_ns
    FROM captured_work c
    LEFT JOIN nvtx_range r ON r.run_id = run AND r.range_id = c.range_id
    LEFT JOIN recorded u ON u.leaf_id = c.range_id
    LEFT JOIN range_path p ON p.run_id = run AND p.path_id = r.path_id
    LEFT JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = c.kernel_name_id
    WHERE c.run_id = run
        AND c.source_id IN (
            SELECT t.source_id
            FROM _timeline_having(
                run,
                ids := (SELECT list(DISTINCT x.source_id) FROM captured_work x WHERE x.run_id = run AND x.is_known),
                source := source
            ) t
        )
        AND (stage IS NULL OR c.stage = stage)
        AND (device IS NULL OR c.device_id = device)
)
SELECT
    row_number() OVER (ORDER BY sum(w.total_ns) DESC, w.path, w.kind, w.kernel) AS rank,
    w.path,
    w.kernel,
    w.kind,
    sum(w.call_count)::BIGINT AS calls,
    sum(w.total_ns)::BIGINT AS total_ns,
    sum(w.total_ns) / nullif((SELECT sum(a.total_ns) FROM w a), 0) AS share_ratio,
    sum(w.total_ns) / sum(w.call_count) AS mean_ns,
    min(w.min_ns) AS min_ns,
    max(w.max_ns) AS max_ns
FROM w
WHERE _fits(w.path, path)
GROUP BY w.path, w.kind, w.kernel
QUALIFY top = 0 OR rank <= top
ORDER BY rank
