-- _ranked-gap: The idle gaps that rankings are of, grouped as in gap_sum, and whether each group is left out.
-- grain: one row of gap_sum
-- key: source_id, pattern_id
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only gaps before work of this stage; (none) for gaps before work outside every stage or without a captured launch
--   device BIGINT = NULL: only this GPU
--   warmup BOOLEAN = false: leave nothing out
--   {source}
-- columns:
--   stage: stage of the work after; (none) outside every stage, or when its launch was not captured
--   place: where they lie, as _gap-place has it
--   scope: part of the run, as _gap-scope has it
--   is_left: whether rankings leave it out
--   is_mixed: whether some of them may be of passes, or lie behind one, that is left out
--   source_id: as in gap_sum, like all columns below
--   pattern_id: number of the group
--   before_kernel_name_id: kernel before
--   before_operation: other work before
--   after_kernel_name_id: kernel after
--   after_operation: other work after
--   gap_count: gaps
--   duration_ns: their length
--   max_ns: the longest

-- Where sets of ranges are not told apart, the gaps are of the passes of the stage that end behind the first of them, and those that passes
-- begin after lie between passes if any of the stage follow each other.
WITH pass AS (
    SELECT
        p.source_id,
        p.stage,
        d.device_id,
        p.is_warmup,
        max(d.last_end_ns) AS last_end_ns,
        count(f.range_id) > 0 AS is_following
    FROM stage_pass p
    JOIN range_device d ON d.run_id = p.run_id AND d.range_id = p.range_id
    LEFT JOIN _following_pass(run) f ON f.range_id = p.range_id
    WHERE p.run_id = run
    GROUP BY p.source_id, p.stage, d.device_id, p.is_warmup
), g AS (
    SELECT
        coalesce(s.stage, '(none)') AS stage,
        _gap_place(
            s.stage,
            g.opening_mask >> (r.depth - 1) & 1 = 1,
            f.range_id IS NOT NULL OR (g.range_context_id IS NULL AND coalesce(m.is_following, false))
        ) AS place,
        _gap_scope(
            b.source_id IS NOT NULL,
            CASE
                WHEN c.range_context_id IS NOT NULL THEN c.is_warmup
                WHEN g.range_context_id IS NULL AND s.stage IS NOT NULL
                    THEN coalesce(w.last_end_ns > g.start_ns, false) AND NOT coalesce(m.last_end_ns > g.start_ns, false)
            END,
            place
        ) AS scope,
        b.source_id IS NOT NULL
        AND g.range_context_id IS NULL
        AND (place = 'between-passes' OR (w.last_end_ns > g.start_ns AND m.last_end_ns > g.start_ns)) AS is_mixed,
        g.source_id,
        g.pattern_id,
        g.before_kernel_name_id,
        g.before_operation,
        g.after_kernel_name_id,
        g.after_operation,
        g.gap_count,
        g.duration_ns,
        g.max_ns
    FROM gap_sum g
    LEFT JOIN path_stage s ON s.run_id = g.run_id AND s.path_id = g.path_id
    LEFT JOIN range_path r ON r.run_id = g.run_id AND r.path_id = s.stage_path_id
    LEFT JOIN measured_source b ON b.run_id = g.run_id AND b.source_id = g.source_id
    LEFT JOIN pass_context c ON c.run_id = g.run_id AND c.range_context_id = g.range_context_id
    LEFT JOIN _following_pass(run) f ON f.range_id = c.range_id
    LEFT JOIN pass w
        ON w.source_id = g.source_id AND w.stage = s.stage AND w.device_id = g.device_id AND w.is_warmup
    LEFT JOIN pass m
        ON m.source_id = g.source_id AND m.stage = s.stage AND m.device_id = g.device_id AND NOT m.is_warmup
    WHERE g.run_id = run
        AND g.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND (device IS NULL OR g.device_id = device)
        AND (stage IS NULL OR coalesce(s.stage, '(none)') = stage)
)
SELECT
    g.stage,
    g.place,
    g.scope,
    NOT _counts(g.scope, stage, warmup) AS is_left,
    coalesce(g.is_mixed, false) AS is_mixed,
    g.source_id,
    g.pattern_id,
    g.before_kernel_name_id,
    g.before_operation,
    g.after_kernel_name_id,
    g.after_operation,
    g.gap_count,
    g.duration_ns,
    g.max_ns
FROM g
