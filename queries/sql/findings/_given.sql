-- _given: The statement behind a building block of findings: a relation that the caller has made already, or the block itself. So that a query of many rules plans and reads each block once.
-- grain: one value
-- key: none
-- scalar: a statement
-- params:
--   relation VARCHAR: name of the relation; NULL when there is none
--   block VARCHAR: the block, a relation of run and source
--   run VARCHAR: the run
--   source VARCHAR: kind of capture; NULL for the default
-- columns:
--   statement: for query()

'FROM ' || coalesce(relation, block || '(' || _sql_text(run) || ', source := ' || coalesce(_sql_text(source), 'NULL') || ')')
