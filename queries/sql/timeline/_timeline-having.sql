-- _timeline-having: The counted timeline sources of a run for what not every source has, such as Python stacks: those of the first kind
--     that has it.
-- grain: one source
-- key: source_id
-- params:
--   run VARCHAR: the run
--   ids INTEGER[] = NULL: the sources that have it
--   {source}
-- columns:
--   source_id: the source
--   kind: {timelines}

SELECT t.source_id, t.kind
FROM timeline t
WHERE t.run_id = run
    AND _is_asked(
        t.kind,
        coalesce(
            t.kind = (
                SELECT arg_min(x.kind, array_position([{'timelines'}], x.kind))
                FROM timeline x
                WHERE x.run_id = run AND list_contains(ids, x.source_id)
            ),
            t.is_counted
        ),
        source
    )
