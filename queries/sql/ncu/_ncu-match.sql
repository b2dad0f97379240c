-- _ncu-match: Profiled kernel launches and the kernels of the counted timeline of the same run that they stand for: the same kernel by name (_ncu-name), grid and block, and the same stage where both have one.
-- grain: one profiled kernel launch
-- key: launch_id
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   launch_id: the profiled launch
--   kernel: name as ncu spells it
--   timeline_name_id: the timeline's name of the kernel; NULL when it has none
--   grid: blocks, x * y * z
--   block: threads of a block, x * y * z
--   stage: stage of the profiled launch; NULL when none
--   matched_by: occurrence (every launch was profiled, this one is the n-th), stage (kernel, grid, block and stage), grid (kernel, grid and block), or NULL when not matched
--   timeline_kernel: name as the timeline spells it
--   timeline_calls: executions in the timeline it stands for
--   timeline_mean_ns: their mean time; of a match by occurrence that execution's own time
--   reason: why it is not matched

WITH n AS (
    SELECT l.launch_id, k.name AS kernel, x.timeline_name_id, x.candidates, _dims(l.grid_x, l.grid_y, l.grid_z) AS grid,
        _dims(l.block_x, l.block_y, l.block_z) AS block, s.stage,
        CASE WHEN l.path_id IS NULL THEN '*' ELSE coalesce(s.stage, '(none)') END AS scope -- * where NVTX was not captured
    FROM ncu_launch l
    JOIN kernel_name k ON k.run_id = l.run_id AND k.kernel_name_id = l.kernel_name_id
    JOIN _ncu_name(run, source := source) x ON x.kernel_name_id = l.kernel_name_id
    LEFT JOIN path_stage s ON s.run_id = l.run_id AND s.path_id = l.path_id
    WHERE l.run_id = run AND l.kind = 'kernel'
), k AS (
    SELECT k.kernel_name_id, _dims(k.grid_x, k.grid_y, k.grid_z) AS grid, _dims(k.block_x, k.block_y, k.block_z) AS block,
        coalesce(s.stage, '(none)') AS scope, k.duration_ns, coalesce(k.launch_start_ns, k.start_ns) AS launched_ns, k.start_ns, k.source_id, k.device_id, k.stream_id
    FROM kernel k
    LEFT JOIN path_stage s ON s.run_id = k.run_id AND s.path_id = k.path_id
    WHERE k.run_id = run AND k.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t) AND k.kernel_name_id IN (SELECT n.timeline_name_id FROM n)
), t AS ( -- the timeline by kernel, grid, block and stage, and of all stages together
    SELECT k.kernel_name_id, k.grid, k.block, k.scope, count(*) AS calls, sum(k.duration_ns)::BIGINT AS total_ns FROM k GROUP BY k.kernel_name_id, k.grid, k.block, k.scope
    UNION ALL
    SELECT k.kernel_name_id, k.grid, k.block, '*', count(*), sum(k.duration_ns)::BIGINT FROM k GROUP BY k.kernel_name_id, k.grid, k.block
), nth AS (
    SELECT n.launch_id, n.kernel, n.timeline_name_id, n.candidates, n.grid, n.block, n.stage, n.scope,
        row_number() OVER (PARTITION BY n.timeline_name_id, n.grid, n.block, n.scope ORDER BY n.launch_id) AS place,
        count(*) OVER (PARTITION BY n.timeline_name_id, n.grid, n.block, n.scope) AS profiled
    FROM n
), full_group AS ( -- groups of which every launch was profiled: their launches pair off in order
    SELECT DISTINCT t.kernel_name_id, t.grid, t.block, t.scope
    FROM nth JOIN t ON t.kernel_name_id = nth.timeline_name_id AND t.grid = nth.grid AND t.block = nth.block AND t.scope = nth.scope AND t.calls = nth.profiled
), each_call AS (
    SELECT g.kernel_name_id, g.grid, g.block, g.scope, k.duration_ns,
        row_number() OVER (PARTITION BY g.kernel_name_id, g.grid, g.block, g.scope ORDER BY k.launched_ns, k.start_ns, k.source_id, k.device_id, k.stream_id) AS place
    FROM k JOIN full_group g ON g.kernel_name_id = k.kernel_name_id AND g.grid = k.grid AND g.block = k.block AND g.scope IN (k.scope, '*')
), m AS (
    SELECT nth.launch_id, nth.kernel, nth.timeline_name_id, nth.candidates, nth.grid, nth.block, nth.stage,
        CASE WHEN e.duration_ns IS NOT NULL THEN 'occurrence' WHEN same.calls IS NOT NULL AND nth.stage IS NOT NULL THEN 'stage'
            WHEN wide.calls IS NOT NULL THEN 'grid' END AS matched_by,
        CASE WHEN e.duration_ns IS NOT NULL THEN 1 WHEN nth.stage IS NOT NULL THEN coalesce(same.calls, wide.calls) ELSE wide.calls END AS timeline_calls,
        CASE WHEN e.duration_ns IS NOT NULL THEN e.duration_ns::DOUBLE WHEN nth.stage IS NOT NULL THEN coalesce(same.total_ns / same.calls, wide.total_ns / wide.calls)
            ELSE wide.total_ns / wide.calls END AS timeline_mean_ns
    FROM nth
    LEFT JOIN each_call e ON e.kernel_name_id = nth.timeline_name_id AND e.grid = nth.grid AND e.block = nth.block AND e.scope = nth.scope AND e.place = nth.place
    LEFT JOIN t same ON same.kernel_name_id = nth.timeline_name_id AND same.grid = nth.grid AND same.block = nth.block AND same.scope = nth.scope
    -- without a stage on one side the other side's does not count
    LEFT JOIN t wide ON wide.kernel_name_id = nth.timeline_name_id AND wide.grid = nth.grid AND wide.block = nth.block
        AND wide.scope = CASE WHEN nth.stage IS NULL THEN '*' ELSE '(none)' END
), grids AS (
    SELECT t.kernel_name_id, string_agg(DISTINCT t.grid || ' of ' || t.block, ', ' ORDER BY t.grid || ' of ' || t.block) AS grids FROM t GROUP BY t.kernel_name_id
), stages AS (
    SELECT t.kernel_name_id, t.grid, t.block, string_agg(t.scope, ', ' ORDER BY t.scope) AS stages FROM t WHERE t.scope <> '*' GROUP BY t.kernel_name_id, t.grid, t.block
)
SELECT m.launch_id, m.kernel, m.timeline_name_id, m.grid, m.block, m.stage, m.matched_by, CASE WHEN m.matched_by IS NOT NULL THEN kn.name END AS timeline_kernel,
    m.timeline_calls, m.timeline_mean_ns,
    CASE WHEN m.matched_by IS NOT NULL THEN NULL
        WHEN NOT EXISTS (SELECT 1 FROM kernel k WHERE k.run_id = run AND k.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)) THEN 'the run has no timeline'
        WHEN m.candidates > 1 AND m.timeline_name_id IS NULL THEN 'several kernels of the timeline have names that differ in namespaces alone'
        WHEN grids.kernel_name_id IS NULL THEN 'the timeline has no kernel of this name'
        WHEN grids.grids IS NULL THEN 'the timeline does not say the grids of this kernel'
        WHEN stages.stages IS NOT NULL THEN 'the timeline has it in other stages: ' || stages.stages
        ELSE 'the timeline has it with other grids: ' || CASE WHEN length(grids.grids) > 120 THEN left(grids.grids, 120) || ' ...' ELSE grids.grids END END AS reason
FROM m
LEFT JOIN kernel_name kn ON kn.run_id = run AND kn.kernel_name_id = m.timeline_name_id
LEFT JOIN grids ON grids.kernel_name_id = m.timeline_name_id
LEFT JOIN stages ON stages.kernel_name_id = m.timeline_name_id AND stages.grid = m.grid AND stages.block = m.block
