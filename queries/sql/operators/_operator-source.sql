-- _operator-source: The sources of a run whose operators are counted. A run may hold the same operators several times, captured by different tools: no sum may hold them twice.
-- grain: one source
-- key: source_id
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only operators of this: torch, nsys or key_averages; by default the first of them that the run has
--   by VARCHAR = NULL: name or name+shape: of several tables of key_averages only the one that such sums hold
-- columns:
--   source_id: the source
--   capture: torch (traces of the PyTorch profiler), nsys (NVTX ranges of emit_nvtx) or key_averages (PyTorch's sums)

SELECT s.source_id, s.capture
FROM op_source s
WHERE s.run_id = run AND CASE WHEN source IS NULL THEN s.is_counted WHEN source IN ('torch', 'nsys', 'key_averages') THEN s.capture = source ELSE error('ARGUMENT: --source is torch, nsys or key_averages')::BOOLEAN END
    AND CASE "by" WHEN 'name' THEN s.is_summed WHEN 'name+shape' THEN s.is_shape_summed ELSE true END
