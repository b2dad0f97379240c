-- _finding_pass: The passes that findings are about: those of stages, warm-up left out.
-- grain: one outermost range of a stage
-- key: range_id
-- needs: device_time stage_pass
-- columns:
--   kind VARCHAR: kind of its timeline: {timelines}
--   range_id BIGINT: the range
--   stage VARCHAR: the stage

SELECT t.kind, p.range_id, p.stage
FROM stage_pass p JOIN timeline t ON t.run_id = p.run_id AND t.source_id = p.source_id
WHERE p.run_id = $run AND NOT p.is_warmup AND p.lost_count = 0
