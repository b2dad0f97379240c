-- _average-source v1: Which of a run's tables of key_averages is counted: they are of one program, so no sum may hold two.
-- grain: one run that has such a table
-- key: source_id
-- params:
--   run VARCHAR: the run
--   by VARCHAR = 'name': for name+shape the first table that has shapes, if any; otherwise the first one
-- columns:
--   source_id: the source

SELECT a.source_id
FROM op_average a
WHERE a.run_id = _run_id_v1(run)
GROUP BY a.source_id
QUALIFY row_number() OVER (ORDER BY "by" = 'name+shape' AND bool_or(a.shapes IS NOT NULL) DESC, a.source_id) = 1
