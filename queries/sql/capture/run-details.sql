-- run-details v1: What a run is: its names, when and where it was captured, the command line and the tags.
-- grain: the run
-- key: run_id
-- params:
--   run VARCHAR: the run
-- columns:
--   run: its name
--   run_id: its id
--   created_at: UTC time of the ingest
--   started_at: UTC time the earliest capture began; NULL when no source says
--   host: machine that it was captured on; NULL when no source says
--   command: the profiled command line as a shell reads it, secrets masked; NULL when no source says
--   prof_version: version of prof that ingested it
--   tags: its tags as key=value; NULL without

SELECT r.name AS run, r.run_id::VARCHAR AS run_id, r.created_at, r.started_at, r.host, r.command, r.prof_version,
    (SELECT string_agg(t.key || '=' || t.value, ' ' ORDER BY t.key) FROM run_tag t WHERE t.run_id = r.run_id) AS tags
FROM run r
WHERE r.run_id = run
ORDER BY r.run_id
