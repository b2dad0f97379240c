-- _caveat-rule-tables: That rules of Nsight Compute found something, and none of it has a table.
-- grain: one caveat, as in the table caveat
-- key: kind
-- params:
--   run VARCHAR: the run
-- columns:
--   kind: what it says

SELECT 'no-rule-tables' AS kind
FROM run r
WHERE r.run_id = run
    AND EXISTS (SELECT 1 FROM ncu_launch l WHERE l.run_id = run)
    AND NOT EXISTS (SELECT 1 FROM ncu_rule_cell c WHERE c.run_id = run)
