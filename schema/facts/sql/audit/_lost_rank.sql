-- _lost_rank: Ranks of a job of which several are captured, but not all. One alone is what is captured on purpose.
-- grain: one kind of capture
-- key: source_id
-- needs: source_fact
-- columns:
--   source_id INTEGER: the first source of those that are there
--   item_count BIGINT: ranks that are not
--   of_count BIGINT: ranks of the job

SELECT
    min(r.source_id) AS source_id,
    max(w.value::BIGINT) - count(DISTINCT r.value) AS item_count,
    max(w.value::BIGINT) AS of_count
FROM source_fact r
JOIN source_fact w ON w.run_id = r.run_id AND w.source_id = r.source_id AND w.key = 'job.world_size'
JOIN source s ON s.run_id = r.run_id AND s.source_id = r.source_id
WHERE r.run_id = $run AND r.key = 'job.rank'
GROUP BY s.kind
HAVING count(DISTINCT r.value) > 1 AND count(DISTINCT r.value) < max(w.value::BIGINT)
