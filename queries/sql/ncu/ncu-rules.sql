-- ncu-rules v1: What Nsight Compute's own rules found about kernels, by the speedup they estimate.
-- grain: one finding about one kernel, grid and block, or about one range or graph
-- key: kernel, grid, block, rule, finding, nth, scope, severity
-- notes: ncu
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: rows at most; 0 for all
--   kernel VARCHAR = NULL: only kernels whose name contains this, case ignored
--   findings VARCHAR = 'optimization': only findings of this severity: optimization, warning, error, ok; (all) for every one
-- columns:
--   rank: place by estimated speedup, global ones first
--   kernel: name as ncu spells it; of a range or graph, its kind and NVTX range
--   finding: the rule's title, or the finding's own
--   speedup_ratio: estimated share that could be saved, mean over the launches; NULL when ncu gives none
--   scope: global (of the kernel's time) or local (of the efficiency of the unit it is about)
--   launches: profiled launches it was found in
--   grid: blocks, x * y * z
--   block: threads of a block, x * y * z
--   severity: optimization, warning, error or ok
--   rule: identifier of the rule
--   nth: place among findings of the same rule, title and severity about one launch
--   advice: what ncu proposes for the metrics it rests on
--   message: the finding, of the launch with the highest estimate

WITH r AS (
    SELECT row_number() OVER (ORDER BY f.scope = 'global' DESC NULLS LAST, f.speedup_ratio DESC NULLS LAST, f.kernel, f.grid, f.block, f.rule, f.finding, f.nth, f.scope, f.severity) AS rank,
        f.kernel, f.finding, f.speedup_ratio, f.scope, f.launch_count AS launches, f.grid, f.block, f.severity, f.rule, f.nth, f.advice, f.message
    FROM ncu_finding f
    WHERE f.run_id = run AND (findings = '(all)' OR f.severity = findings) AND (kernel IS NULL OR contains(lower(f.kernel), lower(kernel)))
)
SELECT r.rank, r.kernel, r.finding, r.speedup_ratio, r.scope, r.launches, r.grid, r.block, r.severity, r.rule, r.nth, r.advice, r.message
FROM r WHERE top = 0 OR r.rank <= top
ORDER BY r.rank
