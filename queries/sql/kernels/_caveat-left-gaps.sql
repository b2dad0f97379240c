-- _caveat-left-gaps: What gaps leaves out, so that it and the rows add up to all.
-- grain: one caveat, as in the table caveat
-- key: kind, detail
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: the stage that is asked for
--   device BIGINT = NULL: only this GPU
--   warmup BOOLEAN = false: whether all is counted
--   {source}
-- columns:
--   kind: what it says
--   subject: of what; empty of what is counted
--   detail: part of the run, as _gap-scope has it
--   item_count: how many
--   time_ns: the sum of their times
--   of_time_ns: that of all, rows and what is left out

WITH x AS (
    SELECT
        g.scope,
        g.is_left,
        sum(g.gap_count) AS item_count,
        sum(g.duration_ns) AS time_ns
    FROM _ranked_gap(run, stage := stage, device := device, warmup := warmup, source := source) g
    GROUP BY g.scope, g.is_left
)
SELECT l.kind, l.subject, l.detail, l.item_count, l.time_ns, l.of_time_ns
FROM _caveat_left('gap', (SELECT list(x) FROM x)) l
UNION ALL BY NAME
SELECT
    'mixed-gaps' AS kind,
    sum(g.gap_count)::BIGINT AS item_count,
    sum(g.duration_ns)::DOUBLE AS time_ns
FROM _ranked_gap(run, stage := stage, device := device, warmup := warmup, source := source) g
WHERE g.is_mixed AND NOT g.is_left AND NOT warmup
HAVING count(*) > 0
