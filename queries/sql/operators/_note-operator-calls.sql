-- _note-operator-calls: Whose calls of operators are counted, or why the run has none, for queries that sums alone do not answer.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
--   operator VARCHAR = NULL: globs of operators that a query picks by
--   root VARCHAR = NULL: likewise, of operator-tree
--   source VARCHAR = NULL: torch or nsys; by default the first of them that the run has
-- columns:
--   note: the sentence

WITH counted AS (
    SELECT c.source_id, c.capture FROM _operator_source(run, source := source) c
)
SELECT n.note FROM _note_operator(run, operator := coalesce(operator, root), source := source) n WHERE NOT EXISTS (SELECT 1 FROM counted WHERE counted.capture = 'key_averages')
UNION ALL
SELECT 'this needs the calls of operators, of which the run has only PyTorch''s sums' || CASE WHEN source IS NULL THEN '' ELSE ' in key_averages' END || ': see prof query top-operators'
FROM counted WHERE counted.capture = 'key_averages' HAVING count(*) > 0
