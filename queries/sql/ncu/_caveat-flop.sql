-- _caveat-flop: Whether operations were measured at all.
-- grain: one caveat, as in the table caveat
-- key: kind
-- params:
--   run VARCHAR: the run
-- columns:
--   kind: what it says

SELECT 'no-operations-measured' AS kind
WHERE EXISTS (SELECT 1 FROM ncu_launch l WHERE l.run_id = run AND l.kind = 'kernel') AND NOT EXISTS (SELECT 1 FROM _ncu_flop(run) f WHERE f.flop IS NOT NULL)
