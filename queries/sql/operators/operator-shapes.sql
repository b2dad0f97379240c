-- operator-shapes v1: Operators by the inputs they were called with, as top-operators by name+shape, with the spread of their calls.
-- grain: one operator and inputs
-- key: operator, shapes, types
-- notes: operators operator-sums operator-shapes outside
-- params:
--   run VARCHAR: the run
--   operator VARCHAR = NULL: only operators that fit one of these globs (commas between)
--   top BIGINT = 20: rows at most; 0 for all
--   stage VARCHAR = NULL: only operators called in this stage; (none) for those outside every stage
--   source VARCHAR = NULL: operators of torch (traces), nsys (emit_nvtx) or key_averages; by default the first of them that the run has
-- columns:
--   rank: place by self_device_ns
--   operator: name
--   shapes: sizes of each tensor among the inputs, as JSON; NULL when not recorded
--   calls: calls, as in top-operators
--   self_device_ns: time of the kernels, copies and fills launched by it but not by operators inside it
--   total_device_ns: the same with those inside it
--   share_ratio: self_device_ns as a share of all rows' before top cuts; NULL when there is none
--   mean_ns: mean of a call's device time, operators inside it included; NULL when only sums are known, as for key_averages
--   min_ns: shortest device time of a call
--   max_ns: longest device time of a call
--   std_ns: sample standard deviation (n-1); NULL for a single call
--   self_cpu_mean_ns: time of a call on the CPU less that in the operators and CUDA API calls inside it
--   call_flop: floating-point operations of a call by PyTorch's formulas (a multiply-add is 2); NULL without one or without recorded inputs
--   flop_per_s: these by the device time of the calls, operators inside them included
--   types: type of each input, as JSON; NULL when not recorded

WITH part AS (
    SELECT o.op_name_id, o.op_input_id, o.total_device_ns
    FROM op o LEFT JOIN path_stage s ON s.run_id = o.run_id AND s.path_id = o.path_id LEFT JOIN _operator_shape(run) x ON x.op_id = o.op_id
    WHERE o.run_id = run AND o.source_id IN (SELECT c.source_id FROM _operator_source(run, source := source) c WHERE c.capture <> 'key_averages')
        AND (stage IS NULL OR coalesce(s.stage, '(none)') = stage) AND NOT coalesce(x.is_nested, false)
), spread AS (
    SELECT n.name AS operator, i.shapes, i.types, avg(p.total_device_ns) AS mean_ns, min(p.total_device_ns) AS min_ns, max(p.total_device_ns) AS max_ns, _std(p.total_device_ns) AS std_ns
    FROM part p JOIN op_name n ON n.run_id = run AND n.op_name_id = p.op_name_id
    LEFT JOIN op_input i ON i.run_id = n.run_id AND i.op_input_id = p.op_input_id
    WHERE _fits(n.name, operator)
    GROUP BY n.name, i.shapes, i.types
)
SELECT t.rank, t.operator, t.shapes, t.calls, t.self_device_ns, t.total_device_ns, t.share_ratio, s.mean_ns, s.min_ns, s.max_ns, s.std_ns,
    t.self_cpu_ns / nullif(t.calls, 0) AS self_cpu_mean_ns, t.flop_count / nullif(t.calls, 0) AS call_flop, t.flop_per_s, t.types
FROM top_operators_v1(run, top := top, "by" := 'name+shape', stage := stage, operator := operator, source := source) t
LEFT JOIN spread s ON s.operator = t.operator AND s.shapes IS NOT DISTINCT FROM t.shapes AND s.types IS NOT DISTINCT FROM t.types
ORDER BY t.rank
