-- critical_step: The stage passes and steps whose critical path is known: of each kind the one of median length and the slowest, warm-up
--     excluded, at most 128 of a run.
-- grain: one stage pass or step
-- key: step_id
-- needs: _critical_row
-- columns:
--   step_id BIGINT: 1, 2, ... within the run; kinds that took longest come first
--   basis VARCHAR: pass (outermost range of a stage), range (a range that is a step) or period (a step from its first device work to that
--     of the next, where steps follow each other)
--   source_id INTEGER: the source
--   pid INTEGER: process; NULL when its launches were not captured
--   tid INTEGER: thread of the range; NULL for a period
--   device_id INTEGER: GPU of a period; NULL for others
--   stage VARCHAR: stage, by stage_rule; (none) outside every stage
--   range_id BIGINT: the range; NULL for periodic steps, which have none
--   name_path_id BIGINT: path of names of the range, by range_path; NULL for periodic steps
--   kernel_name_id BIGINT: for periodic steps, the kernel that each begins with; NULL where that is a graph replay, and for ranges
--   nth BIGINT: number of the pass, as in stage_pass, or of the step, as in step
--   start_ns BIGINT: start of the range on the CPU; of a period, start of its first device work
--   end_ns BIGINT: the later of the ends of the range and of its last device work; of a period, start of the first device work of the next
--   duration_ns BIGINT: length: its segments add up to it exactly
--   segment_count BIGINT: pieces of its path; NULL without a path
--   is_median BOOLEAN: whether its length is the lower median of its kind
--   is_slowest BOOLEAN: whether it is the longest of its kind
--   kind_count BIGINT: passes or steps of its kind, warm-up excluded
--   reason VARCHAR: why there is no path (size: too much happened in it) or why its segments are not stored (segments: too many); NULL when
--     all is there

SELECT
    w.step_id,
    w.basis,
    w.source_id,
    w.pid,
    w.tid,
    w.device_id,
    w.stage,
    w.range_id,
    w.name_path_id,
    w.kernel_name_id,
    w.nth,
    w.start_ns,
    w.end_ns,
    w.end_ns - w.start_ns AS duration_ns,
    r.piece_count AS segment_count,
    w.is_median,
    w.is_slowest,
    w.kind_count,
    r.reason
FROM _critical_row r JOIN _critical_window w ON w.step_id = r.step_id
WHERE r.row_kind = 'step'
