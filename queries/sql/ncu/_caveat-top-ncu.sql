-- _caveat-top-ncu: That the run has no results of Nsight Compute, where a query was asked for them.
-- grain: one caveat, as in the table caveat
-- key: kind
-- params:
--   run VARCHAR: the run
--   with_ncu BOOLEAN = false: whether it was asked for them
-- columns:
--   kind: what it says

SELECT c.kind
FROM caveat c
WHERE c.run_id = run AND with_ncu AND c.topic = 'ncu' AND c.kind IN ('not-profiled', 'no-profiled-kernels')
