-- _finding-nth: Number of each finding of Nsight Compute's rules among those of the launch that read alike.
-- grain: one finding
-- key: run_id, launch_id, finding_id
-- columns:
--   run_id: the run
--   launch_id: the launch
--   finding_id: the finding
--   nth: 1, 2, ... among those with the same rule, title and severity

SELECT
    r.run_id,
    r.launch_id,
    r.finding_id,
    row_number() OVER (PARTITION BY r.run_id, r.launch_id, r.rule, r.title, r.severity ORDER BY r.finding_id) AS nth
FROM ncu_rule r
