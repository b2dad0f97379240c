-- _timeline v1: The sources of a run whose timeline is counted. A run may hold the same work twice, captured by Nsight Systems and by the PyTorch profiler: no sum may hold both.
-- grain: one source
-- key: source_id
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   source_id: the source

-- Of several kinds the first by name, which is nsys. No window: see _operator-source.
WITH asked AS (
    SELECT s.source_id, s.kind
    FROM source s
    WHERE s.run_id = _run_id_v1(run) AND CASE WHEN source IS NULL OR source IN ('nsys', 'torch') THEN s.kind IN ('nsys', 'torch') AND coalesce(s.kind = source, true)
        ELSE error('ARGUMENT: --source is nsys or torch')::BOOLEAN END
)
SELECT asked.source_id
FROM asked
WHERE asked.kind = (SELECT min(x.kind) FROM asked x)
