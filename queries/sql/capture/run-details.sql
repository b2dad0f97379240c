-- run-details v1: A run's name, id, time, host, command line and tags.
-- grain: the run
-- key: run_id
-- params:
--   run VARCHAR: the run
-- columns:
--   run: run name
--   run_id: run id
--   created_at: time of the ingest, UTC
--   started_at: start of the earliest capture, UTC; NULL when no source has it
--   host: host name of the captured machine; NULL when no source has it
--   command: profiled command line, quoted for a shell, secrets masked; NULL when no source has it
--   prof_version: prof version that ingested it
--   tags: tags as key=value; NULL without tags

SELECT
    r.name AS run,
    r.run_id::VARCHAR AS run_id,
    r.created_at,
    r.started_at,
    r.host,
    r.command,
    r.prof_version,
    (
        SELECT string_agg(t.key || '=' || t.value, ' ' ORDER BY t.key)
        FROM run_tag t
        WHERE t.run_id = r.run_id
    ) AS tags
FROM run r
WHERE r.run_id = run
ORDER BY r.run_id
