-- _run-gpu: The GPUs of each run.
-- grain: one run
-- key: run_id
-- columns:
--   run_id: the run
--   device: GPU name; several names when the GPUs differ; NULL when no source has it
--   gpu_count: number of GPUs that ran work; without a timeline, of those that its sources name; NULL when unknown

WITH worked AS (
    SELECT
        u.run_id,
        count(*) AS gpu_count
    FROM used_gpu u
    GROUP BY u.run_id
), named AS (
    SELECT
        d.run_id,
        string_agg(DISTINCT d.name, ', ' ORDER BY d.name) AS device,
        count(DISTINCT d.device_id) AS gpu_count
    FROM device d
    GROUP BY d.run_id
)
SELECT
    coalesce(n.run_id, w.run_id) AS run_id,
    n.device,
    coalesce(
        w.gpu_count,
        CASE WHEN n.run_id NOT IN (SELECT s.run_id FROM source s WHERE s.kind IN ({'timelines'})) THEN n.gpu_count END
    ) AS gpu_count
FROM named n
FULL JOIN worked w ON w.run_id = n.run_id
