-- _caveat-operator-roof: Why operators have no roof, and what is faster than its roof.
-- grain: one caveat, as in the table caveat
-- key: kind, subject
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: as in operator-roofline
--   {operator source}
-- columns:
--   kind: what it says
--   subject: operator with most of that time, or why a figure is unknown
--   item_count: operators and inputs
--   time_ns: their device time
--   of_time_ns: device time of all calls that launched work themselves, and of replays

WITH r AS (
    SELECT o.operator, o.self_device_ns, o.dram_ratio, o.unknown, o.bytes_bound
    FROM _operator_roof(run, stage := stage, source := source) o
), whole AS (
    SELECT sum(r.self_device_ns)::DOUBLE AS ns
    FROM r
)
SELECT
    'operators-above-bandwidth' AS kind,
    arg_max(r.operator, r.self_device_ns) AS subject,
    count(*) AS item_count,
    sum(r.self_device_ns)::DOUBLE AS time_ns,
    any_value(w.ns) AS of_time_ns
FROM r CROSS JOIN whole w
WHERE r.dram_ratio > 1 AND r.unknown IS NULL AND r.bytes_bound <> 'upper'
HAVING count(*) > 0
UNION ALL BY NAME
SELECT
    'operators-without-roof' AS kind,
    r.unknown AS subject,
    count(*) AS item_count,
    sum(r.self_device_ns)::DOUBLE AS time_ns,
    any_value(w.ns) AS of_time_ns
FROM r CROSS JOIN whole w
WHERE r.unknown IS NOT NULL
GROUP BY r.unknown
HAVING sum(r.self_device_ns) >= 0.01 * any_value(w.ns)
