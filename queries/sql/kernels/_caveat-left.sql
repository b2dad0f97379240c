-- _caveat-left: What a ranking leaves out of the work that it is of, so that it and the rows add up to all.
-- grain: one part of the run that is left out
-- key: detail
-- params:
--   work VARCHAR: what it ranks
--   parts STRUCT[]: the work by scope and is_left: item_count and time_ns
-- columns:
--   kind: what a caveat says
--   subject: of what
--   detail: part of the run
--   item_count: how many
--   time_ns: the sum of their times
--   of_time_ns: that of all, rows and what is left out

WITH x AS (
    SELECT unnest(parts) AS part
)
SELECT
    'left-out' AS kind,
    work AS subject,
    x.part.scope AS detail,
    x.part.item_count::BIGINT AS item_count,
    x.part.time_ns::DOUBLE AS time_ns,
    (SELECT sum(y.part.time_ns)::DOUBLE FROM x y) AS of_time_ns
FROM x
WHERE x.part.is_left
