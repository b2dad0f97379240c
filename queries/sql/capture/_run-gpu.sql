-- _run-gpu: The GPUs of each run: those that ran work; without a timeline, those that its sources name.
-- grain: one run
-- key: run_id
-- columns:
--   run_id: the run
--   device: GPU name; several names when the GPUs differ; NULL when no source has it
--   gpu_count: number of GPUs; NULL when unknown

WITH gpu AS (
    SELECT
        coalesce(d.run_id, u.run_id) AS run_id,
        coalesce(d.device_id, u.device_id) AS device_id,
        d.name,
        u.device_id IS NOT NULL AS is_used
    FROM device d
    FULL JOIN used_gpu u ON u.run_id = d.run_id AND u.device_id = d.device_id
)
SELECT
    g.run_id,
    coalesce(
        string_agg(DISTINCT g.name, ', ' ORDER BY g.name) FILTER (g.is_used),
        string_agg(DISTINCT g.name, ', ' ORDER BY g.name)
    ) AS device,
    CASE
        WHEN bool_or(g.is_used) THEN count(DISTINCT g.device_id) FILTER (g.is_used)
        WHEN g.run_id NOT IN (SELECT s.run_id FROM source s WHERE s.kind IN ({'timelines'})) THEN count(DISTINCT g.device_id)
    END AS gpu_count
FROM gpu g
GROUP BY g.run_id
