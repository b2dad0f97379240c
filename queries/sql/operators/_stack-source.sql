-- _stack-source: The sources of a run whose work is counted by lines of code.
-- grain: one source
-- key: source_id
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: {timelines}; default: the first of these that has Python stacks
-- columns:
--   source_id: the source

SELECT t.source_id
FROM timeline t
WHERE t.run_id = run
    AND CASE
        WHEN source IS NULL
            THEN t.kind = (
                SELECT arg_min(x.kind, array_position([{'traced'}], x.kind))
                FROM timeline x
                WHERE x.run_id = run
                    AND x.source_id IN (
                        SELECT c.source_id
                        FROM stack_sum c
                        WHERE c.run_id = run AND c.stack_id > 0
                    )
            )
        ELSE _is_asked(t.kind, t.is_counted, source)
    END
