-- _ranked-sync: The synchronisations that rankings are of, and whether each is left out.
-- grain: one row of sync
-- key: none
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only synchronisations in this stage; (none) for those outside every stage
--   warmup BOOLEAN = false: leave nothing out
--   {source}
-- columns:
--   scope: part of the run, as _scope has it
--   is_left: whether rankings leave it out
--   kind: kind of synchronisation, as in sync, like the column below
--   duration_ns: length of the wait

SELECT
    _scope(b.source_id IS NOT NULL, c.is_warmup, y.start_ns < b.begin_ns) AS scope,
    NOT _counts(scope, stage, warmup) AS is_left,
    y.kind,
    y.duration_ns
FROM sync y
LEFT JOIN path_stage s ON s.run_id = y.run_id AND s.path_id = y.path_id
LEFT JOIN measured_source b ON b.run_id = y.run_id AND b.source_id = y.source_id
LEFT JOIN pass_context c ON c.run_id = y.run_id AND c.range_context_id = y.range_context_id
WHERE y.run_id = run
    AND y.source_id IN (
        SELECT t.source_id
        FROM _timeline_having(run, ids := (SELECT list(DISTINCT x.source_id) FROM sync x WHERE x.run_id = run), source := source) t
    )
    AND (stage IS NULL OR coalesce(s.stage, '(none)') = stage)
