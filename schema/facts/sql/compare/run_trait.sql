-- run_trait: The machine and code of a run as short keys, for grouping comparable runs of a workload.
-- grain: one run
-- key: none
-- needs: device|source_fact|capture|capture_input
-- columns:
--   gpu VARCHAR: GPU name; several names when the GPUs differ; NULL when no source has it
--   driver VARCHAR: GPU driver version; NULL when no source has it
--   machine VARCHAR: host and GPUs; NULL when one is unknown
--   code VARCHAR: commit, driver, capture method, software and inputs, for a capture from a clean commit; NULL otherwise
--   sha256 VARCHAR: SHA-256 of the run's first timeline; NULL without one

WITH gpu AS (
    SELECT
        string_agg(DISTINCT d.name, ', ' ORDER BY d.name) AS gpu,
        count(DISTINCT d.device_id) || ' ' || string_agg(DISTINCT d.name, ' ' ORDER BY d.name) AS gpus
    FROM device d
    WHERE d.run_id = $run
), origin AS (
    SELECT
        min(s.kind) || ' ' || string_agg(DISTINCT s.tool_version, ' ' ORDER BY s.tool_version) AS origin,
        min(s.sha256) AS sha256
    FROM source s
    WHERE s.run_id = $run AND s.kind IN ('nsys', 'prof', 'torch')
), software AS (
    SELECT
        string_agg(DISTINCT f.value, ', ' ORDER BY f.value) FILTER (f.key = 'driver.version') AS driver,
        max(f.value) FILTER (contains(f.key, 'driver')) AS one_driver,
        md5(string_agg(f.key || '=' || f.value, chr(10) ORDER BY f.key, f.value)) AS facts
    FROM source_fact f
    WHERE f.run_id = $run
        AND (
            f.key IN ('env.driver_version', 'driver.version', 'env.python.version')
            OR starts_with(f.key, 'workload.')
            OR starts_with(f.key, 'env.python.packages.')
            OR starts_with(f.key, 'env.variables.')
        )
), given AS (
    SELECT md5(string_agg(i.path || '=' || i.sha256, chr(10) ORDER BY i.path)) AS inputs
    FROM capture_input i
    WHERE i.run_id = $run
)
SELECT
    g.gpu,
    s.driver,
    r.host || ', ' || g.gpus AS machine,
    CASE
        WHEN c.git_commit IS NOT NULL AND NOT c.is_git_dirty
            THEN concat_ws(
                ', ',
                'commit ' || left(c.git_commit, 12),
                'driver ' || s.one_driver,
                c.mode || ' capture',
                o.origin,
                'software ' || left(s.facts, 8),
                'inputs ' || left(i.inputs, 8)
            )
    END AS code,
    o.sha256
FROM run r
CROSS JOIN gpu g
CROSS JOIN origin o
CROSS JOIN software s
CROSS JOIN given i
LEFT JOIN (SELECT x.* FROM capture x WHERE x.run_id = $run ORDER BY x.source_id LIMIT 1) c ON c.run_id = r.run_id
WHERE r.run_id = $run
