-- module_sum: Times of nn.Modules and of their backward pass, from the Python stacks of traces.
-- grain: one module path and stage, and all calls outside modules in that stage
-- key: module_path, stage
-- needs: python_call
-- columns:
--   module_path VARCHAR: module names from the outermost module to this one, joined by ' > '; NULL outside modules
--   stage VARCHAR: stage of the call, or of the forward operators behind backward_device_ns; (none) outside every stage
--   call_count BIGINT: forward calls; 0 when only functions or the backward pass are in the stage
--   self_device_ns BIGINT: device time of the work it launched itself, excluding modules inside it
--   total_device_ns BIGINT: device time including modules inside it; NULL when no device work was recorded
--   self_cpu_ns BIGINT: CPU time, excluding modules called inside it
--   total_cpu_ns BIGINT: CPU time
--   launched_ns BIGINT: device time of the work launched by its Python functions, excluding modules inside it
--   backward_device_ns BIGINT: device time of the backward pass of operators called by it but not by modules inside it, matched by autograd's sequence numbers; NULL when there is
--     none

WITH part AS (
    SELECT p.module_path, c.path_id, count(*) FILTER (p.is_module) AS call_count, sum(c.module_device_ns) FILTER (p.is_module) AS self_device_ns, sum(c.total_device_ns) FILTER (p.is_module) AS total_device_ns,
        sum(c.module_cpu_ns) FILTER (p.is_module) AS self_cpu_ns, sum(c.duration_ns) FILTER (p.is_module) AS total_cpu_ns, sum(c.self_device_ns) AS launched_ns, NULL AS backward_device_ns
    FROM python_call c LEFT JOIN python_stack p ON p.run_id = $run AND p.stack_id = c.stack_id
    WHERE c.run_id = $run
    GROUP BY p.module_path, c.path_id
    UNION ALL -- of the stage of the forward operator; one inside another that is known as backward too is part of that one
    SELECT p.module_path, f.path_id, 0, NULL, NULL, NULL, NULL, NULL, sum(b.total_device_ns)
    FROM op b
    JOIN op f ON f.run_id = $run AND f.op_id = b.forward_op_id
    JOIN python_stack p ON p.run_id = $run AND p.stack_id = f.stack_id
    LEFT JOIN op around ON around.run_id = $run AND around.op_id = b.parent_op_id
    WHERE b.run_id = $run AND around.forward_op_id IS NULL AND p.module_path IS NOT NULL
    GROUP BY p.module_path, f.path_id
)
SELECT p.module_path, coalesce(s.stage, '(none)') AS stage, sum(p.call_count)::BIGINT AS call_count, sum(p.self_device_ns)::BIGINT AS self_device_ns, sum(p.total_device_ns)::BIGINT AS total_device_ns,
    sum(p.self_cpu_ns)::BIGINT AS self_cpu_ns, sum(p.total_cpu_ns)::BIGINT AS total_cpu_ns, sum(p.launched_ns)::BIGINT AS launched_ns, sum(p.backward_device_ns)::BIGINT AS backward_device_ns
FROM part p LEFT JOIN path_stage s ON s.run_id = $run AND s.path_id = p.path_id
GROUP BY p.module_path, coalesce(s.stage, '(none)')
