-- _suite-run: The runs of a suite, as prof capture --suite made them.
-- grain: one run
-- key: run_id
-- params:
--   suite VARCHAR = NULL: name of the suite; NULL: the suite of the latest run that has one
-- columns:
--   run_id: the run
--   run: its name
--   entry: name within the suite
--   at: start of its capture, UTC; of its ingest when unknown
--   status: ok, partial, failed or running (prof was killed); NULL when unknown, as the next three
--   reason: why the status is not ok
--   workload_key: hash of command line and working folder
--   options_key: hash of options and inputs
--   is_latest: whether it is the latest run of the entry

SELECT
    r.run_id,
    r.name AS run,
    e.value AS entry,
    coalesce(r.started_at, r.created_at) AS at,
    c.status,
    c.reason,
    c.workload_key,
    c.options_key,
    row_number() OVER (PARTITION BY e.value ORDER BY coalesce(r.started_at, r.created_at) DESC, r.run_id DESC)
        = 1 AS is_latest
FROM run r
JOIN run_tag t
    ON t.run_id = r.run_id
    AND t.key = 'suite'
    AND t.value = coalesce(suite, (SELECT arg_max(x.value, x.run_id) FROM run_tag x WHERE x.key = 'suite'))
JOIN run_tag e ON e.run_id = r.run_id AND e.key = 'entry'
LEFT JOIN capture c
    ON c.run_id = r.run_id AND c.source_id = (SELECT min(x.source_id) FROM capture x WHERE x.run_id = r.run_id)
