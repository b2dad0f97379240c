-- ncu-rules v1: Findings of Nsight Compute's own rules, by estimated speedup.
-- grain: one finding about one kernel, grid and block, or about one range or graph
-- key: kernel, grid, block, rule, finding, nth, scope, severity
-- notes: ncu
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: maximum rows; 0 for all
--   kernel VARCHAR = NULL: only kernels whose name contains this, ignoring case
--   findings VARCHAR = 'optimization': only findings of this severity: optimization, warning, error, ok; (all) for every severity
-- columns:
--   rank: rank by estimated speedup, global estimates first
--   kernel: kernel name as Nsight Compute spells it; for a range or graph, its kind and NVTX range
--   finding: title of the rule, or of the finding itself
--   speedup_ratio: estimated share of time that could be saved, mean over the launches; NULL when ncu gives no estimate
--   scope: basis of the estimate: global (kernel time) or local (efficiency of one hardware unit)
--   launches: profiled launches with the finding
--   grid: grid size in blocks, x * y * z
--   block: block size in threads, x * y * z
--   severity: optimization, warning, error or ok
--   rule: identifier of the rule
--   nth: number of the finding among those with the same rule, title and severity on one launch
--   advice: what ncu recommends for the metrics behind the finding
--   message: text of the finding, from the launch with the highest estimate

WITH f AS (
    SELECT
        coalesce(n.name, concat_ws(' ', f.kind, p.path)) AS kernel,
        f.grid,
        f.block,
        f.rule,
        f.finding,
        f.nth,
        f.scope,
        f.severity,
        f.speedup_ratio,
        f.launch_count,
        f.advice,
        f.message
    FROM ncu_finding f
    LEFT JOIN kernel_name n ON n.run_id = f.run_id AND n.kernel_name_id = f.kernel_name_id
    LEFT JOIN range_path p ON p.run_id = f.run_id AND p.path_id = f.path_id
    WHERE f.run_id = run
), r AS (
    SELECT
        row_number() OVER (
            ORDER BY f.scope = 'global' DESC NULLS LAST, f.speedup_ratio DESC NULLS LAST, f.kernel, f.grid, f.block,
                f.rule, f.finding, f.nth, f.scope, f.severity
        ) AS rank,
        f.kernel,
        f.finding,
        f.speedup_ratio,
        f.scope,
        f.launch_count AS launches,
        f.grid,
        f.block,
        f.severity,
        f.rule,
        f.nth,
        f.advice,
        f.message
    FROM f
    WHERE (findings = '(all)' OR f.severity = findings) AND (kernel IS NULL OR contains(lower(f.kernel), lower(kernel)))
)
SELECT
    r.rank,
    r.kernel,
    r.finding,
    r.speedup_ratio,
    r.scope,
    r.launches,
    r.grid,
    r.block,
    r.severity,
    r.rule,
    r.nth,
    r.advice,
    r.message
FROM r
WHERE top = 0 OR r.rank <= top
ORDER BY r.rank
