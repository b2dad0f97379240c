-- measured_source: Timelines of a kind that has measured passes with device work: rankings count these passes there, and elsewhere all
--     work.
-- grain: one source
-- key: source_id
-- needs: stage_pass
-- columns:
--   source_id INTEGER: the source
--   begin_ns BIGINT: start of its first stage pass; NULL when it has none

WITH pass AS (
    SELECT
        p.source_id,
        min(p.start_ns) AS begin_ns,
        bool_or(NOT p.is_warmup AND d.range_id IS NOT NULL) AS is_measured
    FROM stage_pass p LEFT JOIN range_device d ON d.run_id = p.run_id AND d.range_id = p.range_id
    WHERE p.run_id = $run
    GROUP BY p.source_id
)
SELECT t.source_id, p.begin_ns
FROM timeline t LEFT JOIN pass p ON p.source_id = t.source_id
WHERE t.run_id = $run
QUALIFY bool_or(p.is_measured) OVER (PARTITION BY t.kind)
