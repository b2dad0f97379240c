-- diagnostics v1: Messages of the profiler during capture, and of prof during ingest.
-- grain: one message
-- key: source_id, time_ns, message
-- params:
--   run VARCHAR: the run
--   severity VARCHAR = NULL: only info, warning or error
-- columns:
--   severity: info, warning or error
--   origin: capture or ingest
--   source_id: the source
--   time_ns: time from the start of the source; NULL when unknown
--   pid: process; NULL when the message concerns none
--   message: message text

SELECT d.severity, d.origin, d.source_id, d.time_ns, d.pid, d.message
FROM diagnostic d
WHERE d.run_id = run AND (severity IS NULL OR d.severity = severity)
ORDER BY array_position(['error', 'warning', 'info'], d.severity), d.source_id, d.time_ns NULLS LAST, d.message
