-- operators: Every operator call of every run, with its name, inputs and stage.
-- grain: one call
-- key: run_id, op_id
-- columns:
--   run: name of the run
--   run_id: run id
--   source_id: the source
--   is_counted: whether its source is counted: sum only these rows, since a run may have the same operators in PyTorch traces and as
--     emit_nvtx ranges
--   stage: stage that called it, by stage_rule; NULL outside every stage
--   path: names of the ranges around the call, outermost first; NULL outside every range
--   operator: operator name
--   shapes: sizes of each input tensor, as JSON; NULL when not recorded
--   types: type of each input, as JSON; NULL when not recorded
--   is_folded: whether its caller of the same name does nothing but call it: key_averages counts the two as one call
--   is_nested: whether an operator of the same name is open around it, so that its total is part of that one's
--   is_captured: whether only a stream capture recorded it: what it launched became nodes of a graph, so self_device_ns and total_device_ns
--     are 0 and graph replays have the work
--   depth: 1 for an outermost operator
--   pid: calling process
--   tid: calling thread
--   start_ns: start of the call
--   duration_ns: time in the call
--   self_cpu_ns: time in the call, excluding the operators and CUDA API calls inside it
--   self_device_ns: device time of the work it launched itself, excluding operators inside it; NULL when the source has no device work
--   total_device_ns: device time including operators inside it; NULL when the source has no device work
--   self_work_count: kernels, copies and fills in self_device_ns
--   flop_count: FLOP by PyTorch's formulas, a multiply-add counts 2; NULL without a formula or recorded inputs
--   device_alloc_bytes: GPU memory it allocated, excluding operators inside it; NULL when memory was not recorded
--   device_free_bytes: GPU memory it freed, excluding operators inside it, not negative; NULL when memory was not recorded
--   op_id: operator id, as in kernel, memop and python_call
--   parent_op_id: the operator that called it; NULL for an outermost one
--   op_name_id: row of op_name
--   stack_id: Python stack of the call, row of python_stack; NULL when not recorded
--   range_context_id: set of ranges around the call, of range_context; 0 outside every range
--   path_id: row of range_path and path_stage

SELECT
    r.name AS run,
    o.run_id,
    o.source_id,
    coalesce(c.is_counted, false) AS is_counted,
    s.stage,
    p.path,
    n.name AS operator,
    i.shapes,
    i.types,
    o.is_folded,
    o.is_nested,
    g.op_id IS NOT NULL AS is_captured,
    o.depth,
    o.pid,
    o.tid,
    o.start_ns,
    o.duration_ns,
    o.self_cpu_ns,
    o.self_device_ns,
    o.total_device_ns,
    o.self_work_count,
    o.flop_count,
    o.device_alloc_bytes,
    o.device_free_bytes,
    o.op_id,
    o.parent_op_id,
    o.op_name_id,
    o.stack_id,
    o.range_context_id,
    o.path_id
FROM op o
JOIN run r ON r.run_id = o.run_id
JOIN op_name n ON n.run_id = o.run_id AND n.op_name_id = o.op_name_id
LEFT JOIN op_input i ON i.run_id = o.run_id AND i.op_input_id = o.op_input_id
LEFT JOIN captured_call g ON g.run_id = o.run_id AND g.op_id = o.op_id
LEFT JOIN op_source c ON c.run_id = o.run_id AND c.source_id = o.source_id
LEFT JOIN path_stage s ON s.run_id = o.run_id AND s.path_id = o.path_id
LEFT JOIN range_path p ON p.run_id = o.run_id AND p.path_id = o.path_id
