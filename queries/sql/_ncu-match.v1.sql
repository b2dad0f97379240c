-- _ncu-match v1: Profiled kernel launches and the timeline's kernels of the same run that they stand for: the same kernel by name (_ncu-name), grid and block, and the same stage where both have one.
-- grain: one profiled kernel launch
-- key: launch_id
-- params:
--   run VARCHAR: the run
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
    SELECT l.launch_id, k.name AS kernel, x.timeline_name_id, x.candidates, concat(l.grid_x, ' x ', l.grid_y, ' x ', l.grid_z) AS grid,
        concat(l.block_x, ' x ', l.block_y, ' x ', l.block_z) AS block, s.stage
    FROM ncu_launch l
    JOIN kernel_name k ON k.run_id = l.run_id AND k.kernel_name_id = l.kernel_name_id
    JOIN _ncu_name_v1(run) x ON x.kernel_name_id = l.kernel_name_id
    LEFT JOIN path_stage s ON s.run_id = l.run_id AND s.path_id = l.path_id
    WHERE l.run_id = _run_id_v1(run) AND l.kind = 'kernel'
), t AS ( -- the timeline by kernel, grid, block and stage
    SELECT k.kernel_name_id, concat(k.grid_x, ' x ', k.grid_y, ' x ', k.grid_z) AS grid, concat(k.block_x, ' x ', k.block_y, ' x ', k.block_z) AS block, s.stage,
        count(*) AS calls, sum(k.duration_ns)::BIGINT AS total_ns
    FROM kernel k
    LEFT JOIN path_stage s ON s.run_id = k.run_id AND s.path_id = k.path_id
    WHERE k.run_id = _run_id_v1(run) AND k.kernel_name_id IN (SELECT n.timeline_name_id FROM n)
    GROUP BY k.kernel_name_id, k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z, s.stage
), whole AS (
    SELECT t.kernel_name_id, t.grid, t.block, sum(t.calls)::BIGINT AS calls, sum(t.total_ns)::BIGINT AS total_ns FROM t GROUP BY ALL
), nth AS (
    SELECT n.launch_id, n.kernel, n.timeline_name_id, n.candidates, n.grid, n.block, n.stage,
        row_number() OVER (PARTITION BY n.timeline_name_id, n.grid, n.block, n.stage ORDER BY n.launch_id) AS place,
        count(*) OVER (PARTITION BY n.timeline_name_id, n.grid, n.block, n.stage) AS profiled
    FROM n
), full_group AS ( -- groups of which every launch was profiled: their launches pair off in order
    SELECT DISTINCT nth.timeline_name_id, nth.grid, nth.block, nth.stage
    FROM nth JOIN t ON t.kernel_name_id = nth.timeline_name_id AND t.grid = nth.grid AND t.block = nth.block AND t.stage IS NOT DISTINCT FROM nth.stage AND t.calls = nth.profiled
), each_call AS (
    SELECT g.timeline_name_id, g.grid, g.block, g.stage, k.duration_ns,
        row_number() OVER (PARTITION BY g.timeline_name_id, g.grid, g.block, g.stage ORDER BY coalesce(k.launch_start_ns, k.start_ns), k.start_ns, k.source_id, k.device_id, k.stream_id) AS place
    FROM kernel k
    LEFT JOIN path_stage s ON s.run_id = k.run_id AND s.path_id = k.path_id
    JOIN full_group g ON g.timeline_name_id = k.kernel_name_id AND g.stage IS NOT DISTINCT FROM s.stage
        AND g.grid = concat(k.grid_x, ' x ', k.grid_y, ' x ', k.grid_z) AND g.block = concat(k.block_x, ' x ', k.block_y, ' x ', k.block_z)
    WHERE k.run_id = _run_id_v1(run)
), m AS (
    SELECT nth.launch_id, nth.kernel, nth.timeline_name_id, nth.candidates, nth.grid, nth.block, nth.stage,
        CASE WHEN e.duration_ns IS NOT NULL THEN 'occurrence' WHEN same.calls IS NOT NULL THEN 'stage' WHEN whole.calls IS NOT NULL THEN 'grid' END AS matched_by,
        CASE WHEN e.duration_ns IS NOT NULL THEN 1 ELSE coalesce(same.calls, whole.calls) END AS timeline_calls,
        CASE WHEN e.duration_ns IS NOT NULL THEN e.duration_ns::DOUBLE ELSE coalesce(same.total_ns / same.calls, whole.total_ns / whole.calls) END AS timeline_mean_ns
    FROM nth
    LEFT JOIN each_call e ON e.timeline_name_id = nth.timeline_name_id AND e.grid = nth.grid AND e.block = nth.block AND e.stage IS NOT DISTINCT FROM nth.stage AND e.place = nth.place
    LEFT JOIN t same ON same.kernel_name_id = nth.timeline_name_id AND same.grid = nth.grid AND same.block = nth.block AND same.stage = nth.stage
    LEFT JOIN whole ON whole.kernel_name_id = nth.timeline_name_id AND whole.grid = nth.grid AND whole.block = nth.block
), grids AS (
    SELECT t.kernel_name_id, string_agg(DISTINCT concat(t.grid, ' of ', t.block), ', ' ORDER BY concat(t.grid, ' of ', t.block)) AS grids
    FROM t GROUP BY t.kernel_name_id
)
SELECT m.launch_id, m.kernel, m.timeline_name_id, m.grid, m.block, m.stage, m.matched_by, CASE WHEN m.matched_by IS NOT NULL THEN kn.name END AS timeline_kernel,
    m.timeline_calls, m.timeline_mean_ns,
    CASE WHEN m.matched_by IS NOT NULL THEN NULL
        WHEN NOT EXISTS (SELECT 1 FROM kernel k WHERE k.run_id = _run_id_v1(run)) THEN 'the run has no timeline'
        WHEN m.candidates > 1 AND m.timeline_name_id IS NULL THEN 'several kernels of the timeline have names that differ in namespaces alone'
        WHEN grids.grids IS NULL THEN 'the timeline has no kernel of this name'
        ELSE 'the timeline has it with other grids: ' || CASE WHEN length(grids.grids) > 120 THEN left(grids.grids, 120) || ' ...' ELSE grids.grids END END AS reason
FROM m
LEFT JOIN kernel_name kn ON kn.run_id = _run_id_v1(run) AND kn.kernel_name_id = m.timeline_name_id
LEFT JOIN grids ON grids.kernel_name_id = m.timeline_name_id
