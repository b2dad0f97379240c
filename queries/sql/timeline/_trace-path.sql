-- _trace-path: Paths of range names of a run with their stages, for a trace.
-- grain: one path
-- key: path_id
-- params:
--   run VARCHAR: the run
-- columns:
--   path_id: as in kernel
--   path: normalised names of the ranges, outermost first
--   stage: stage, by stage_rule; NULL outside every stage

SELECT p.path_id, p.path, s.stage
FROM range_path p LEFT JOIN path_stage s ON s.run_id = p.run_id AND s.path_id = p.path_id
WHERE p.run_id = run
