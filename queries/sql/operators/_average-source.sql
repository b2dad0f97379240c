-- _average-source: Which of a run's tables of key_averages is counted: they are of one program, so no sum may hold two.
-- grain: one run that has such a table
-- key: source_id
-- params:
--   run VARCHAR: the run
--   by VARCHAR = 'name': for name+shape the first table that has shapes, if any; otherwise the first one
-- columns:
--   source_id: the source

SELECT x.source_id
FROM (SELECT a.source_id, bool_or(a.shapes IS NOT NULL) AS has_shapes FROM op_average a WHERE a.run_id = run GROUP BY a.source_id) x
QUALIFY row_number() OVER (ORDER BY "by" = 'name+shape' AND x.has_shapes DESC, x.source_id) = 1
