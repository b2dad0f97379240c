-- critical_what_if: What is on the critical path of each step of critical_step, added up, and by how much the step would be shorter if all
--     of that in the step had taken no time.
-- grain: one group of what is on the path
-- key: step_id, grouping_kind, nth
-- needs: _critical_row
-- columns:
--   step_id BIGINT: the step, as in critical_step
--   grouping_kind VARCHAR: what is added up: subject (cause with the kernel, operation, function, range or operator that it is about; these
--     add up to the step), cause (these too; and launch-bound, which is launch, launch-delay and launch-latency together), family (of
--     kernels), range (CPU time in an innermost range or operator)
--   nth BIGINT: 1, 2, ... by time on the path, the longest first
--   cause VARCHAR: as in critical_segment, or launch-bound; NULL for a family and a range
--   kernel_name_id BIGINT: the kernel
--   operation VARCHAR: the copy or fill, or graph replay
--   family VARCHAR: the family of kernels
--   api_name_id BIGINT: the function
--   name_path_id BIGINT: the range, by the least path with the same normalised name
--   op_name_id BIGINT: the operator
--   duration_ns BIGINT: time on the path
--   piece_count BIGINT: pieces of it
--   saving_ns BIGINT: by how much the step would be shorter, at most duration_ns; NULL for unknown and earlier, and beyond the 100 longest
--     of a step

SELECT
    r.step_id,
    r.grouping_kind,
    r.nth,
    r.cause,
    r.kernel_name_id,
    r.operation,
    r.family,
    r.api_name_id,
    r.name_path_id,
    r.op_name_id,
    r.duration_ns,
    r.piece_count,
    r.saving_ns
FROM _critical_row r
WHERE r.row_kind = 'what-if'
