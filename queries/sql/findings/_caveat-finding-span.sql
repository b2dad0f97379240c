-- _caveat-finding-span: Coverage of findings: how much of the device work they cover, when not all of it or none.
-- grain: one caveat, as in the table caveat
-- key: kind
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: the stage of the findings; (none) for all device work of a run without measured passes
--   {source}
-- columns:
--   kind: what it says
--   time_ns: how long
--   of_time_ns: the whole that time_ns is part of

WITH counted AS (
    SELECT t.source_id
    FROM _timeline(run, source := source) t
), n AS (
    SELECT
        count(*) > 0 AS has_work,
        sum(d.kernel_ns + d.graph_ns + d.copy_ns)::DOUBLE AS busy_ns
    FROM device_time d
    WHERE d.run_id = run AND d.range_id IS NULL AND d.source_id IN (SELECT counted.source_id FROM counted)
), passes AS (
    SELECT count(*) > 0 AS has_passes
    FROM stage_pass p
    WHERE p.run_id = run AND NOT p.is_warmup AND p.source_id IN (SELECT counted.source_id FROM counted)
), own AS (
    SELECT
        count(*) > 0 AS has_work,
        sum(s.busy_ns)::DOUBLE AS busy_ns,
        coalesce(bool_or(s.stage = stage), false) AS is_asked
    FROM finding_span s
    WHERE s.run_id = run AND s.stage IS NOT NULL AND _is_asked(s.kind, s.is_counted, source)
)
SELECT CASE
    WHEN passes.has_passes AND stage = '(none)' THEN 'work-outside-passes'
    WHEN stage IS NOT NULL AND n.has_work THEN 'stage-without-work'
    WHEN passes.has_passes AND n.has_work THEN 'measured-passes-without-work'
    WHEN EXISTS (SELECT 1 FROM _timeline(run, source := source) t WHERE t.kind IN ({'summed'}))
        THEN 'no-timeline-to-judge'
    ELSE 'nothing-to-judge'
END AS kind
FROM n CROSS JOIN passes CROSS JOIN own
WHERE (
        n.has_work
        OR NOT EXISTS (
            SELECT 1
            FROM kernel_duration k
            WHERE k.run_id = run AND k.source_id IN (SELECT counted.source_id FROM counted)
        )
    ) -- else it was stored before the time of GPUs was accounted for
    AND CASE
        WHEN NOT passes.has_passes THEN NOT n.has_work OR stage <> '(none)'
        WHEN stage IS NULL THEN NOT own.has_work
        ELSE NOT own.is_asked
    END
UNION ALL BY NAME
SELECT 'no-measured-passes' AS kind
FROM n CROSS JOIN passes
WHERE n.has_work AND NOT passes.has_passes AND coalesce(stage = '(none)', true)
UNION ALL BY NAME
SELECT
    'part-of-busy-time' AS kind,
    own.busy_ns AS time_ns,
    n.busy_ns AS of_time_ns
FROM n CROSS JOIN passes CROSS JOIN own
WHERE n.busy_ns > 0 AND own.busy_ns < 0.9 * n.busy_ns
