-- warnings v1: Warnings and errors of the profilers during capture and of prof during ingest; each text once.
-- grain: one text, source and severity
-- key: source_id, severity, origin, message
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: maximum texts; 0 for all
-- columns:
--   severity: error or warning
--   origin: capture or ingest
--   source_id: the source
--   message_count: how often it occurred
--   message: message text
--   first_ns: first occurrence, from the start of the source; NULL when unknown

WITH d AS (
    SELECT
        d.severity,
        d.origin,
        d.source_id,
        count(*) AS message_count,
        d.message,
        min(d.time_ns) AS first_ns,
        row_number() OVER (
            ORDER BY array_position(['error', 'warning'], d.severity), d.source_id, min(d.time_ns) NULLS LAST, d.origin,
                d.message
        ) AS place
    FROM diagnostic d
    WHERE d.run_id = run AND d.severity <> 'info'
    GROUP BY d.severity, d.origin, d.source_id, d.message
)
SELECT d.severity, d.origin, d.source_id, d.message_count, d.message, d.first_ns
FROM d
WHERE top = 0 OR d.place <= top
ORDER BY d.place
