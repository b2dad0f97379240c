-- _timeline: The counted timeline sources of a run. A run may have the same work twice, captured by Nsight Systems and by the PyTorch
--     profiler: no sum may include both.
-- grain: one source
-- key: source_id
-- params:
--   run VARCHAR: the run
--   {source}
-- columns:
--   source_id: the source
--   kind: {timelines}

SELECT t.source_id, t.kind
FROM timeline t
WHERE t.run_id = run AND _is_asked(t.kind, t.is_counted, source)
