-- _timeline: The counted timeline sources of a run. A run may have the same work twice, captured by Nsight Systems and by the PyTorch profiler: no sum may include both.
-- grain: one source
-- key: source_id
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys, prof, rocprof, torch, xla or nsys-stats; default: the first of these that the run has
-- columns:
--   source_id: the source
--   kind: nsys, prof, rocprof, torch, xla or nsys-stats

SELECT t.source_id, t.kind FROM timeline t WHERE t.run_id = run AND _is_asked(t.kind, t.is_counted, source)
