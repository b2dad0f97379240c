-- _operator-source: The sources of a run whose operators are counted. A run may hold the same operators several times, captured by different tools: no sum may hold them twice.
-- grain: one source
-- key: source_id
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only operators of this: torch, nsys or key_averages; by default the first of them that the run has
-- columns:
--   source_id: the source
--   capture: torch (traces of the PyTorch profiler), nsys (NVTX ranges of emit_nvtx) or key_averages (PyTorch's sums)

WITH t AS (
    SELECT s.source_id, s.kind AS capture, CASE s.kind WHEN 'torch' THEN 1 ELSE 2 END AS place
    FROM source s
    WHERE s.run_id = run AND s.kind IN ('torch', 'nsys') AND s.source_id IN (SELECT o.source_id FROM op o WHERE o.run_id = run)
    UNION ALL
    SELECT DISTINCT a.source_id, 'key_averages', 3 FROM op_average a WHERE a.run_id = run
), asked AS (
    SELECT t.source_id, t.capture, t.place
    FROM t
    WHERE source IS NULL OR t.capture = CASE WHEN source IN ('torch', 'nsys', 'key_averages') THEN source ELSE error('ARGUMENT: --source is torch, nsys or key_averages') END
)
-- No window: DuckDB 1.5.5 now and then fails in min() OVER () of a union (its issue 25713).
SELECT asked.source_id, asked.capture
FROM asked
WHERE asked.place = (SELECT min(x.place) FROM asked x)
