-- _caveat-sync-calls: Functions that synchronise of whose waits the capture has no record, so that syncs lacks them: all their calls, as
--     api-calls counts them.
-- grain: one caveat, as in the table caveat
-- key: subject
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: the stage that is asked for
--   {source}
-- columns:
--   kind: what it says
--   subject: the function
--   item_count: its calls
--   time_ns: the sum of their times

WITH counted AS (
    SELECT t.source_id
    FROM _timeline(run, source := source) t
), f AS (
    SELECT n.api_name_id, n.name
    FROM api_name n
    WHERE n.run_id = run AND contains(n.name, 'Synchronize')
), recorded AS ( -- of one of its calls there is a record
    SELECT DISTINCT a.source_id, a.api_name_id
    FROM sync y
    JOIN api_call a
        ON a.run_id = y.run_id
        AND a.source_id = y.source_id
        AND a.pid = y.pid
        AND a.correlation_id = y.correlation_id
    WHERE y.run_id = run AND a.api_name_id IN (SELECT f.api_name_id FROM f)
), staged AS (
    SELECT DISTINCT c.range_context_id
    FROM range_context c JOIN path_stage s ON s.run_id = c.run_id AND s.path_id = c.path_id
    WHERE c.run_id = run AND s.stage IS NOT NULL AND (stage = '(none)' OR s.stage = stage)
), x AS (
    SELECT
        a.source_id,
        a.api_name_id,
        count(*) AS item_count,
        sum(a.duration_ns) AS time_ns
    FROM api_call a
    WHERE a.run_id = run
        AND a.source_id IN (SELECT counted.source_id FROM counted)
        AND a.api_name_id IN (SELECT f.api_name_id FROM f)
        AND (
            stage IS NULL
            OR (stage = '(none)') <> (a.range_context_id IN (SELECT staged.range_context_id FROM staged))
        )
    GROUP BY a.source_id, a.api_name_id
    UNION ALL
    SELECT
        d.source_id,
        d.api_name_id,
        sum(d.call_count) AS item_count,
        sum(d.call_count * d.duration_ns) AS time_ns
    FROM api_duration d LEFT JOIN path_stage s ON s.run_id = d.run_id AND s.path_id = d.path_id
    WHERE d.run_id = run
        AND d.source_id IN (SELECT counted.source_id FROM counted)
        AND d.api_name_id IN (SELECT f.api_name_id FROM f)
        AND (stage IS NULL OR coalesce(s.stage, '(none)') = stage)
    GROUP BY d.source_id, d.api_name_id
)
SELECT
    'sync-without-record' AS kind,
    f.name AS subject,
    sum(x.item_count)::BIGINT AS item_count,
    sum(x.time_ns)::DOUBLE AS time_ns
FROM x JOIN f ON f.api_name_id = x.api_name_id
WHERE NOT EXISTS (SELECT 1 FROM recorded r WHERE r.source_id = x.source_id AND r.api_name_id = x.api_name_id)
GROUP BY f.name
