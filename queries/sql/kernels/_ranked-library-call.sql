-- _ranked-library-call: The calls of traced libraries that rankings are of, and whether each is left out.
-- grain: one row of library_call
-- key: none
-- params:
--   run VARCHAR: the run
--   warmup BOOLEAN = false: leave nothing out
--   {source}
-- columns:
--   scope: part of the run, as _scope has it
--   is_left: whether rankings leave it out
--   library: as in library_call, like all columns below
--   api_name_id: function
--   duration_ns: time in the call

SELECT
    _scope(b.source_id IS NOT NULL, c.is_warmup, l.start_ns < b.begin_ns) AS scope,
    NOT _counts(scope, NULL, warmup) AS is_left,
    l.library,
    l.api_name_id,
    l.duration_ns
FROM library_call l
LEFT JOIN measured_source b ON b.run_id = l.run_id AND b.source_id = l.source_id
LEFT JOIN pass_context c ON c.run_id = l.run_id AND c.range_context_id = l.range_context_id
WHERE l.run_id = run AND l.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
