-- _caveat-left-syncs: What rankings of synchronisations leave out, so that it and their rows add up to all.
-- grain: one caveat, as in the table caveat
-- key: kind, detail
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: the stage that is asked for
--   warmup BOOLEAN = false: whether all is counted
--   {source}
-- columns:
--   kind: what it says
--   subject: of what
--   detail: part of the run, as _scope has it
--   item_count: how many
--   time_ns: the sum of their times
--   of_time_ns: that of all, rows and what is left out

WITH x AS (
    SELECT
        k.scope,
        k.is_left,
        count(*) AS item_count,
        sum(k.duration_ns) AS time_ns
    FROM _ranked_sync(run, stage := stage, warmup := warmup, source := source) k
    GROUP BY k.scope, k.is_left
)
SELECT l.kind, l.subject, l.detail, l.item_count, l.time_ns, l.of_time_ns
FROM _caveat_left('synchronisation', (SELECT list(x) FROM x)) l
