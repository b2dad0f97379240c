-- _workload-run: The runs of one workload over time: runs of prof capture with the same workload_key, other runs with the same command
--     line, results of load generators without either with the same single model.
-- grain: one run
-- key: run_id
-- params:
--   workload VARCHAR = NULL: workload_key, unique prefix of one, command, or any reference to a run of the workload; NULL: the workload of
--     the latest run that has one and what is followed; without such a run, of the latest that has one
--   tag VARCHAR = NULL: only runs with this tag, key=value; a run must have all tags of a list separated by line breaks
--   is_served BOOLEAN = false: results of load generators are followed, else device work
-- columns:
--   run_id: the run
--   run: run name
--   at: start of its capture, UTC; of its ingest when unknown
--   workload: workload_key, or the command line for a run that prof did not capture, or its tag workload without one, or the only model
--     that its load generators asked
--   commit: git commit of the working directory; NULL, as the next two, when unknown
--   branch: git branch
--   is_dirty: whether there were uncommitted changes
--   host: host name of the captured machine; NULL when no source has it
--   prof_version: prof version that ingested it

WITH r AS (
    SELECT
        r.run_id,
        r.name,
        coalesce(r.started_at, r.created_at) AS at,
        coalesce(
            c.workload_key,
            r.command,
            (SELECT g.value FROM run_tag g WHERE g.run_id = r.run_id AND g.key = 'workload'),
            (
                SELECT CASE WHEN min(b.model) = max(b.model) THEN min(b.model) END
                FROM serving_benchmark b
                WHERE b.run_id = r.run_id
            )
        ) AS kind,
        c.workload_key,
        c.git_commit,
        c.git_branch,
        c.is_git_dirty,
        r.host,
        r.prof_version,
        r.run_id IN (SELECT x.run_id FROM _tagged_run(tag := tag) x) AS is_tagged,
        CASE
            WHEN is_served THEN r.run_id IN (SELECT b.run_id FROM serving_benchmark b)
            ELSE r.run_id IN (SELECT s.run_id FROM stage_pass s WHERE s.is_counted)
                OR r.run_id IN (SELECT k.run_id FROM work_sum k WHERE k.is_counted)
        END AS is_followed
    FROM run r
    LEFT JOIN capture c
        -- of a job the first node
        ON c.run_id = r.run_id AND c.source_id = (SELECT min(x.source_id) FROM capture x WHERE x.run_id = r.run_id)
), meant AS ( -- what is named in full goes before what begins so
    SELECT coalesce(
        CASE
            WHEN workload IS NULL
                THEN coalesce(
                    arg_max(r.kind, (r.at, r.run_id)) FILTER (r.is_tagged AND r.is_followed),
                    arg_max(r.kind, (r.at, r.run_id)) FILTER (r.is_tagged)
                )
        END,
        min(r.kind) FILTER (r.kind = workload),
        min(r.kind) FILTER (r.name = workload),
        CASE
            WHEN count(DISTINCT r.workload_key) FILTER (workload <> '' AND starts_with(r.workload_key, workload)) > 1
                THEN error(
                    'ARGUMENT: the keys of '
                        || count(DISTINCT r.workload_key) FILTER (starts_with(r.workload_key, workload))
                        || ' workloads begin with '
                        || workload
                        || ': write more of it'
                )
            ELSE min(r.workload_key) FILTER (workload <> '' AND starts_with(r.workload_key, workload))
        END,
        min(r.kind) FILTER (r.run_id IN (SELECT x.run_id FROM _run_ref(workload) x))
    ) AS kind
    FROM r
)
SELECT
    r.run_id,
    r.name AS run,
    r.at,
    r.kind AS workload,
    r.git_commit AS commit,
    r.git_branch AS branch,
    r.is_git_dirty AS is_dirty,
    r.host,
    r.prof_version
FROM r JOIN meant ON meant.kind = r.kind
WHERE r.is_tagged
ORDER BY r.at, r.run_id
