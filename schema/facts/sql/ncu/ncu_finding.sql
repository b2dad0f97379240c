-- ncu_finding: Findings of Nsight Compute's own rules about kernels, over their launches.
-- grain: one finding about one kernel, grid and block, or about one range or graph
-- key: kind, kernel_name_id, path_id, grid, block, rule, finding, nth, scope, severity
-- needs: ncu_rule
-- columns:
--   kind VARCHAR: kernel, range, graph or cmdlist
--   kernel_name_id BIGINT: kernel name as Nsight Compute spells it; NULL unless a kernel
--   path_id BIGINT: for a range or graph, path of its NVTX ranges; NULL for a kernel
--   grid VARCHAR: grid size in blocks, x * y * z; NULL unless a kernel
--   block VARCHAR: block size in threads, x * y * z; NULL unless a kernel
--   rule VARCHAR: identifier of the rule
--   finding VARCHAR: title of the rule, or of the finding itself
--   nth BIGINT: number of the finding among those with the same rule, title and severity on one launch
--   scope VARCHAR: basis of the estimate: global (kernel time) or local (efficiency of one hardware unit)
--   severity VARCHAR: optimization, warning, error, ok or none
--   speedup_ratio DOUBLE: estimated share of time that could be saved, mean over the launches; NULL when ncu gives no estimate
--   launch_count BIGINT: profiled launches with the finding
--   advice VARCHAR: what ncu recommends for the metrics behind the finding
--   message VARCHAR: text of the finding, from the launch with the highest estimate

WITH evidence AS (
    SELECT
        e.launch_id,
        e.finding_id,
        string_agg(e.advice, '; ' ORDER BY e.advice) AS advice
    FROM ncu_rule_metric e
    WHERE e.run_id = $run AND e.advice IS NOT NULL
    GROUP BY e.launch_id, e.finding_id
), f AS (
    SELECT
        l.kind,
        l.kernel_name_id,
        CASE WHEN l.kernel_name_id IS NULL THEN nullif(l.path_id, 0) END AS path_id,
        CASE WHEN l.kind = 'kernel' THEN _dims(l.grid_x, l.grid_y, l.grid_z) END AS grid,
        CASE WHEN l.kind = 'kernel' THEN _dims(l.block_x, l.block_y, l.block_z) END AS block,
        r.rule,
        r.title AS finding,
        r.speedup_scope AS scope,
        r.severity,
        r.speedup_ratio,
        r.launch_id,
        r.message,
        evidence.advice,
        x.nth
    FROM ncu_rule r
    JOIN _finding_nth x ON x.run_id = r.run_id AND x.launch_id = r.launch_id AND x.finding_id = r.finding_id
    JOIN ncu_launch l ON l.run_id = r.run_id AND l.launch_id = r.launch_id
    LEFT JOIN evidence ON evidence.launch_id = r.launch_id AND evidence.finding_id = r.finding_id
    WHERE r.run_id = $run
), q AS (
    SELECT
        f.kind,
        f.kernel_name_id,
        f.path_id,
        f.grid,
        f.block,
        f.rule,
        f.finding,
        f.nth,
        f.scope,
        f.severity,
        _mean(f.speedup_ratio) AS speedup_ratio,
        count(DISTINCT f.launch_id) AS launch_count,
        arg_max(
            struct_pack(message := f.message, advice := f.advice),
            (coalesce(f.speedup_ratio, 0), -f.launch_id)
        ) AS said
    FROM f
    GROUP BY f.kind, f.kernel_name_id, f.path_id, f.grid, f.block, f.rule, f.finding, f.nth, f.scope, f.severity
)
SELECT
    q.kind,
    q.kernel_name_id,
    q.path_id,
    q.grid,
    q.block,
    q.rule,
    q.finding,
    q.nth,
    q.scope,
    q.severity,
    q.speedup_ratio,
    q.launch_count,
    q.said.advice,
    q.said.message
FROM q
