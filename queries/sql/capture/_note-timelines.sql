-- _note-timelines: Which timeline is counted, of a run that has one of Nsight Systems and one of the PyTorch profiler, and of how many runs of the workload. Apart from _run-note, which DuckDB plans for longer than this runs.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   note: the sentence

SELECT 'the run has a timeline of Nsight Systems and one of the PyTorch profiler; this counts the ' || CASE WHEN any_value(source) = 'torch' THEN 'latter: --source nsys' ELSE 'former: --source torch' END || ' for the other' AS note
FROM source s
WHERE s.run_id = run
HAVING bool_or(s.kind = 'nsys') AND bool_or(s.form = 'torch-trace')
UNION ALL
SELECT format('the run holds {} repeats of the workload: totals and calls are over all of them, passes are counted together', count(DISTINCT c.pass_id))
FROM capture_source c JOIN source s ON s.run_id = c.run_id AND s.source_id = c.captured_source_id
WHERE c.run_id = run AND s.kind = coalesce(source, (SELECT min(x.kind) FROM source x WHERE x.run_id = run AND x.kind IN ('nsys', 'torch')))
HAVING count(DISTINCT c.pass_id) > 1
