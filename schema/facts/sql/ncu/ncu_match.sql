-- ncu_match: Profiled launches matched with timeline kernels of the same run: same kernel name (or the only one with the same spelling),
--     grid and block, and same stage where both have one.
-- grain: one timeline kind and profiled launch
-- key: kind, launch_id
-- needs: ncu_launch
-- columns:
--   kind VARCHAR: timeline kind: {timelines}, whether or not the run has it
--   is_counted BOOLEAN: whether it is the counted kind; nsys in a run without a timeline
--   launch_id BIGINT: the profiled launch
--   kernel_name_id BIGINT: kernel name as Nsight Compute spells it
--   timeline_name_id BIGINT: name as the timeline spells it; NULL when the timeline has none, or several of the spelling
--   matched_by VARCHAR: matching method: occurrence (every launch was profiled, this is the n-th), stage (kernel, grid, block and stage),
--     grid (kernel, grid and block); NULL when not matched
--   timeline_calls BIGINT: timeline executions it stands for
--   timeline_mean_ns DOUBLE: their mean duration; for a match by occurrence, the duration of that execution
--   reason VARCHAR: why it is not matched: no-timeline, ambiguous-name (kernels whose names differ only in namespaces), no-kernel (of this
--     name), no-grids (the timeline has none), other-stages, other-grids
--   elsewhere VARCHAR: stages, or the first eight grids, in which the timeline has the kernel; NULL for other reasons

WITH n AS (
    SELECT
        x.kind,
        x.is_counted,
        l.launch_id,
        l.kernel_name_id,
        x.timeline_name_id,
        x.candidate_count,
        l.grid,
        l.block,
        l.stage,
        CASE WHEN l.path_id IS NULL THEN '*' ELSE coalesce(l.stage, '(none)') END AS scope -- * where NVTX was not captured
    FROM ncu_measure l JOIN _ncu_named x ON x.kernel_name_id = l.kernel_name_id
    WHERE l.run_id = $run
), t AS ( -- the timeline by kernel, grid, block and stage, and of all stages together
    SELECT
        w.kind,
        w.kernel_name_id,
        w.grid,
        w.block,
        w.stage AS scope,
        sum(w.calls)::BIGINT AS calls,
        sum(w.total_ns)::BIGINT AS total_ns
    FROM ncu_timeline w
    WHERE w.run_id = $run AND w.kernel_name_id IS NOT NULL
    GROUP BY w.kind, w.kernel_name_id, w.grid, w.block, w.stage
    UNION ALL
    SELECT
        w.kind,
        w.kernel_name_id,
        w.grid,
        w.block,
        '*',
        sum(w.calls)::BIGINT,
        sum(w.total_ns)::BIGINT
    FROM ncu_timeline w
    WHERE w.run_id = $run AND w.kernel_name_id IS NOT NULL
    GROUP BY w.kind, w.kernel_name_id, w.grid, w.block
), nth AS (
    SELECT
        n.kind,
        n.is_counted,
        n.launch_id,
        n.kernel_name_id,
        n.timeline_name_id,
        n.candidate_count,
        n.grid,
        n.block,
        n.stage,
        n.scope,
        row_number() OVER (
            PARTITION BY n.kind, n.timeline_name_id, n.grid, n.block, n.scope
            ORDER BY n.launch_id
        ) AS place,
        count(*) OVER (PARTITION BY n.kind, n.timeline_name_id, n.grid, n.block, n.scope) AS profiled
    FROM n
), full_group AS ( -- groups of which every launch was profiled: their launches pair off in order
    SELECT DISTINCT t.kind, t.kernel_name_id, t.grid, t.block, t.scope
    FROM nth
    JOIN t
        ON t.kind = nth.kind
        AND t.kernel_name_id = nth.timeline_name_id
        AND t.grid = nth.grid
        AND t.block = nth.block
        AND t.scope = nth.scope
        AND t.calls = nth.profiled
), each_call AS (
    SELECT
        g.kind,
        g.kernel_name_id,
        g.grid,
        g.block,
        g.scope,
        k.duration_ns,
        row_number() OVER (
            PARTITION BY g.kind, g.kernel_name_id, g.grid, g.block, g.scope
            ORDER BY coalesce(k.launch_start_ns, k.start_ns), k.start_ns, k.source_id, k.device_id, k.stream_id
        ) AS place
    FROM kernel k
    JOIN timeline l ON l.run_id = k.run_id AND l.source_id = k.source_id
    JOIN kernel_shape h ON h.run_id = k.run_id AND h.kernel_shape_id = k.kernel_shape_id
    LEFT JOIN path_stage s ON s.run_id = k.run_id AND s.path_id = k.path_id
    JOIN full_group g
        ON g.kind = l.kind
        AND g.kernel_name_id = k.kernel_name_id
        AND g.grid = _dims(h.grid_x, h.grid_y, h.grid_z)
        AND g.block = _dims(h.block_x, h.block_y, h.block_z)
        AND g.scope IN (coalesce(s.stage, '(none)'), '*')
    WHERE k.run_id = $run AND k.kernel_name_id IN (SELECT f.kernel_name_id FROM full_group f)
), m AS (
    SELECT
        nth.kind,
        nth.is_counted,
        nth.launch_id,
        nth.kernel_name_id,
        nth.timeline_name_id,
        nth.candidate_count,
        nth.grid,
        nth.block,
        CASE
            WHEN e.duration_ns IS NOT NULL THEN 'occurrence'
            WHEN same.calls IS NOT NULL AND nth.stage IS NOT NULL THEN 'stage'
            WHEN wide.calls IS NOT NULL THEN 'grid'
        END AS matched_by,
        CASE
            WHEN e.duration_ns IS NOT NULL THEN 1
            WHEN nth.stage IS NOT NULL THEN coalesce(same.calls, wide.calls)
            ELSE wide.calls
        END AS timeline_calls,
        CASE
            WHEN e.duration_ns IS NOT NULL THEN e.duration_ns::DOUBLE
            WHEN nth.stage IS NOT NULL THEN coalesce(same.total_ns / same.calls, wide.total_ns / wide.calls)
            ELSE wide.total_ns / wide.calls
        END AS timeline_mean_ns
    FROM nth
    LEFT JOIN each_call e
        ON e.kind = nth.kind
        AND e.kernel_name_id = nth.timeline_name_id
        AND e.grid = nth.grid
        AND e.block = nth.block
        AND e.scope = nth.scope
        AND e.place = nth.place
    LEFT JOIN t same
        ON same.kind = nth.kind
        AND same.kernel_name_id = nth.timeline_name_id
        AND same.grid = nth.grid
        AND same.block = nth.block
        AND same.scope = nth.scope
    -- without a stage on one side the other side's does not count
    LEFT JOIN t wide
        ON wide.kind = nth.kind
        AND wide.kernel_name_id = nth.timeline_name_id
        AND wide.grid = nth.grid
        AND wide.block = nth.block
        AND wide.scope = CASE WHEN nth.stage IS NULL THEN '*' ELSE '(none)' END
), grids AS (
    SELECT
        t.kind,
        t.kernel_name_id,
        array_to_string(list_sort(list(DISTINCT t.grid || ' of ' || t.block))[:8], ', ') AS grids
    FROM t
    GROUP BY t.kind, t.kernel_name_id
), stages AS (
    SELECT
        t.kind,
        t.kernel_name_id,
        t.grid,
        t.block,
        string_agg(t.scope, ', ' ORDER BY t.scope) AS stages
    FROM t
    WHERE t.scope <> '*'
    GROUP BY t.kind, t.kernel_name_id, t.grid, t.block
)
SELECT
    m.kind,
    m.is_counted,
    m.launch_id,
    m.kernel_name_id,
    m.timeline_name_id,
    m.matched_by,
    m.timeline_calls,
    m.timeline_mean_ns,
    CASE
        WHEN m.matched_by IS NOT NULL THEN NULL
        WHEN NOT EXISTS (SELECT 1 FROM ncu_timeline w WHERE w.run_id = $run AND w.kind = m.kind) THEN 'no-timeline'
        WHEN m.candidate_count > 1 AND m.timeline_name_id IS NULL THEN 'ambiguous-name'
        WHEN grids.kernel_name_id IS NULL THEN 'no-kernel'
        WHEN grids.grids IS NULL THEN 'no-grids'
        WHEN stages.stages IS NOT NULL THEN 'other-stages'
        ELSE 'other-grids'
    END AS reason,
    CASE
        WHEN m.matched_by IS NOT NULL OR m.timeline_name_id IS NULL THEN NULL
        ELSE coalesce(stages.stages, grids.grids)
    END AS elsewhere
FROM m
LEFT JOIN grids ON grids.kind = m.kind AND grids.kernel_name_id = m.timeline_name_id
LEFT JOIN stages
    ON stages.kind = m.kind
    AND stages.kernel_name_id = m.timeline_name_id
    AND stages.grid = m.grid
    AND stages.block = m.block
