-- _stack-source: The sources of a run whose work is counted by lines of code.
-- grain: one source
-- key: source_id
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: {timelines}; default: the first of these that has Python stacks
-- columns:
--   source_id: the source

SELECT t.source_id
FROM _timeline_having(
    run,
    ids := (SELECT list(DISTINCT c.source_id) FROM stack_sum c WHERE c.run_id = run AND c.stack_id > 0),
    source := source
) t
