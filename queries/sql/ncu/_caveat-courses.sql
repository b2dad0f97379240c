-- _caveat-courses: That Nsight Compute profiled, and took no PM samples.
-- grain: one caveat, as in the table caveat
-- key: kind
-- params:
--   run VARCHAR: the run
-- columns:
--   kind: what it says

SELECT 'no-courses' AS kind
FROM run r
WHERE r.run_id = run
    AND EXISTS (SELECT 1 FROM ncu_launch l WHERE l.run_id = run)
    AND NOT EXISTS (SELECT 1 FROM ncu_sample x WHERE x.run_id = run)
