-- _critical-step: The stage passes and steps with a critical path in the timelines of a kind, numbered.
-- grain: one stage pass or step
-- key: step
-- params:
--   run VARCHAR: the run
--   {source}
-- columns:
--   step: 1, 2, ... in the order of step_id
--   step_id: as in critical_step
--   basis: pass, range or period
--   source_id: the source
--   pid: process
--   device_id: GPU of a period
--   stage: stage, by stage_rule; (none) outside every stage
--   name_path_id: path of names of the range; NULL for periodic steps
--   kernel_name_id: kernel that a periodic step begins with; NULL for others, and where that is a graph replay
--   nth: number of the pass or step
--   duration_ns: length
--   is_median: whether it is the median of its kind
--   is_slowest: whether it is the slowest of its kind
--   kind_count: passes or steps of its kind
--   has_segments: whether its segments are stored

SELECT
    row_number() OVER (ORDER BY s.step_id) AS step,
    s.step_id,
    s.basis,
    s.source_id,
    s.pid,
    s.device_id,
    s.stage,
    s.name_path_id,
    s.kernel_name_id,
    s.nth,
    s.duration_ns,
    s.is_median,
    s.is_slowest,
    s.kind_count,
    s.reason IS NULL AS has_segments
FROM critical_step s
WHERE s.run_id = run
    AND s.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
    AND s.segment_count IS NOT NULL
