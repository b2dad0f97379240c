-- _average-source: Which of a run's tables of key_averages is counted: they are of one program, so no sum may hold two.
-- grain: one run that has such a table
-- key: source_id
-- params:
--   run VARCHAR: the run
--   by VARCHAR = 'name': for name+shape the first table that has shapes, if any; otherwise the first one
-- columns:
--   source_id: the source

SELECT s.source_id FROM op_source s WHERE s.run_id = run AND s.capture = 'key_averages' AND CASE "by" WHEN 'name+shape' THEN s.is_shape_summed ELSE s.is_summed END
