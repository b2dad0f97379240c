-- _noise-run: Runs of the workload of a run on its machine, by the state of their code: what runs of one state differ in is noise.
-- grain: one run
-- key: run_id
-- params:
--   run VARCHAR: the run that sets workload and machine
-- columns:
--   run_id: the run
--   run: its name
--   group_name: what runs of one state share besides workload and machine, the commit first
--   sha256: SHA-256 of its first timeline; NULL without one

-- The latest hundred runs are enough. Another commit or driver makes another group, since it may change times; another host or GPU is
-- another machine and left out. Runs from a folder without a commit, or with changes that were not committed, are of no group, for nobody
-- knows whether their code is the same.
SELECT
    c.run_id,
    r.name AS run,
    t.code AS group_name,
    t.sha256
FROM (
    SELECT c.run_id
    FROM capture c
    WHERE c.source_id = (SELECT min(y.source_id) FROM capture y WHERE y.run_id = c.run_id)
        AND c.workload_key = (
            SELECT arg_min(x.workload_key, x.source_id)
            FROM capture x
            WHERE x.run_id = run
        )
        AND c.git_commit IS NOT NULL
        AND NOT c.is_git_dirty
    ORDER BY c.started_at DESC, c.run_id DESC
    LIMIT 100
) c
JOIN run r ON r.run_id = c.run_id
JOIN run_trait t ON t.run_id = c.run_id
WHERE t.machine = (SELECT x.machine FROM run_trait x WHERE x.run_id = run)
ORDER BY c.run_id
