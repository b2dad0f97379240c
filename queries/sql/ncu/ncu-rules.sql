-- ncu-rules v1: What Nsight Compute's own rules found about kernels, by the speedup they estimate.
-- grain: one finding about one kernel, grid and block, or about one range or graph
-- key: kernel, grid, block, rule, finding, nth, scope
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
--   nth: place among findings of the same rule and title about one launch
--   advice: what ncu proposes for the metrics it rests on
--   message: the finding, of the launch with the highest estimate

WITH evidence AS (
    SELECT e.launch_id, e.finding_id, string_agg(e.advice, '; ' ORDER BY e.advice) AS advice
    FROM ncu_rule_metric e WHERE e.run_id = run AND e.advice IS NOT NULL GROUP BY e.launch_id, e.finding_id
), f AS (
    SELECT coalesce(n.name, concat_ws(' ', l.kind, p.path)) AS kernel, CASE WHEN l.kind = 'kernel' THEN _dims(l.grid_x, l.grid_y, l.grid_z) END AS grid,
        CASE WHEN l.kind = 'kernel' THEN _dims(l.block_x, l.block_y, l.block_z) END AS block,
        r.rule, r.title AS finding, r.speedup_scope AS scope, r.severity, r.speedup_ratio, r.launch_id, r.message, evidence.advice,
        row_number() OVER (PARTITION BY r.launch_id, r.rule, r.title ORDER BY r.finding_id) AS nth
    FROM ncu_rule r
    JOIN ncu_launch l ON l.run_id = r.run_id AND l.launch_id = r.launch_id
    LEFT JOIN kernel_name n ON n.run_id = l.run_id AND n.kernel_name_id = l.kernel_name_id
    LEFT JOIN range_path p ON p.run_id = l.run_id AND p.path_id = l.path_id
    LEFT JOIN evidence ON evidence.launch_id = r.launch_id AND evidence.finding_id = r.finding_id
    WHERE r.run_id = run AND (findings = '(all)' OR r.severity = findings)
), q AS (
    SELECT f.kernel, f.grid, f.block, f.rule, f.finding, f.nth, f.scope, f.severity, _mean(f.speedup_ratio) AS speedup_ratio, count(DISTINCT f.launch_id) AS launches,
        arg_max(struct_pack(message := f.message, advice := f.advice), (coalesce(f.speedup_ratio, 0), -f.launch_id)) AS said
    FROM f WHERE kernel IS NULL OR contains(lower(f.kernel), lower(kernel)) GROUP BY ALL
), r AS (
    SELECT row_number() OVER (ORDER BY q.scope = 'global' DESC NULLS LAST, q.speedup_ratio DESC NULLS LAST, q.kernel, q.grid, q.block, q.rule, q.finding, q.nth, q.scope) AS rank,
        q.kernel, q.finding, q.speedup_ratio, q.scope, q.launches, q.grid, q.block, q.severity, q.rule, q.nth, q.said
    FROM q
)
SELECT r.rank, r.kernel, r.finding, r.speedup_ratio, r.scope, r.launches, r.grid, r.block, r.severity, r.rule, r.nth, r.said.advice, r.said.message
FROM r WHERE top = 0 OR r.rank <= top
ORDER BY r.rank
