-- _operator-source: The counted operator sources of a run. A run may have the same operators from several tools: a sum must use one of
--     them.
-- grain: one source
-- key: source_id
-- params:
--   run VARCHAR: the run
--   {operator source}
--   by VARCHAR = NULL: name or name+shape: selects the matching key_averages table among several
-- columns:
--   source_id: the source
--   capture: torch (traces of the PyTorch profiler), nsys (NVTX ranges of emit_nvtx) or key_averages (PyTorch's table)

SELECT s.source_id, s.capture
FROM op_source s
WHERE s.run_id = run
    AND CASE
        WHEN source IS NULL THEN s.is_counted
        WHEN source IN ({'operators'}) THEN s.capture = source
        ELSE error('ARGUMENT: --source is {operators}')::BOOLEAN
    END
    AND CASE "by" WHEN 'name' THEN s.is_summed WHEN 'name+shape' THEN s.is_shape_summed ELSE true END
