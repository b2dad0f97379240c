-- _note-operator-shapes: Whose operators are counted by their inputs, or that these were not recorded.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
--   operator VARCHAR = NULL: as in operator-shapes
--   source VARCHAR = NULL: torch, nsys or key_averages; by default the first of them that the run has
-- columns:
--   note: the sentence

WITH counted AS (
    SELECT c.capture, c.source_id FROM _operator_source(run, source := source) c
)
SELECT n.note FROM _note_operator(run, "by" := 'name+shape', operator := operator, source := source) n
UNION ALL
SELECT CASE WHEN min(c.capture) = 'key_averages' THEN 'the sums are not by inputs: save those of key_averages(group_by_input_shape=True), recorded with record_shapes=True'
    ELSE 'inputs were not recorded, so that the calls of all shapes are in one row: record them with record_shapes=True' END
FROM counted c
HAVING count(*) > 0 AND NOT EXISTS (SELECT 1 FROM op o WHERE o.run_id = run AND o.op_input_id IS NOT NULL AND o.source_id IN (SELECT x.source_id FROM counted x WHERE x.capture <> 'key_averages'))
    AND NOT EXISTS (SELECT 1 FROM op_average a WHERE a.run_id = run AND a.shapes IS NOT NULL AND a.source_id IN (SELECT x.source_id FROM counted x WHERE x.capture = 'key_averages'))
