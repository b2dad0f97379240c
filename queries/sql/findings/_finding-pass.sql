-- _finding-pass: The passes that findings are about: those of stages, warm-up left out.
-- grain: one outermost range of a stage
-- key: range_id
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   range_id: the range
--   stage: the stage

SELECT s.range_id, s.stage FROM _stage_pass(run, source := source) s WHERE NOT s.is_warmup
