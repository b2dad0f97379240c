-- module-times v1: Times of nn.Modules, by the Python stacks of a trace; the times of their backward apart.
-- grain: one module path, instance or class
-- key: module
-- notes: stack module
-- params:
--   run VARCHAR: the run
--   by VARCHAR = 'path': what to add up: path (names of the modules around it and its own), name (an instance, as Linear_3) or class (Linear)
--   depth BIGINT = 0: only modules within fewer than so many others; 0 for all
--   stage VARCHAR = NULL: only calls in this stage; (none) for those outside every stage
--   top BIGINT = 0: rows at most; 0 for all
-- columns:
--   rank: place by total device time, then total CPU time
--   module: path, name or class
--   calls: calls of its forward
--   self_device_ns: time of the kernels, copies and fills launched by it but not by modules inside it
--   total_device_ns: the same with those inside it; a call within one of the same row is part of that one's total and not added again; NULL when no device work was recorded
--   self_cpu_ns: time on the CPU less that in the modules inside it
--   total_cpu_ns: time on the CPU; a call within one of the same row is not added again
--   share_ratio: self_device_ns as a share of all device work launched by Python functions, outside of modules too; NULL when there is none
--   backward_device_ns: device time of the backward of operators called by it but not by modules inside it, as autograd's sequence numbers tell; NULL when there is none

WITH stack AS (
    SELECT s.stack_id, s.is_module, s.module_path, string_split(s.module_path, ' > ') AS names,
        CASE WHEN "by" = 'class' THEN list_transform(string_split(s.module_path, ' > '), lambda x: regexp_replace(x, '_[0-9]+$', '')) ELSE string_split(s.module_path, ' > ') END AS keys
    FROM python_stack s
    WHERE s.run_id = run AND s.module_path IS NOT NULL
), keyed AS (
    SELECT s.stack_id, s.is_module, CASE "by" WHEN 'path' THEN s.module_path WHEN 'name' THEN s.keys[-1] WHEN 'class' THEN s.keys[-1] ELSE error('ARGUMENT: --by is path, name or class') END AS module,
        "by" <> 'path' AND list_contains(s.keys[:-2], s.keys[-1]) AS is_nested
    FROM stack s
    WHERE depth = 0 OR len(s.names) <= depth
), forward AS (
    SELECT k.module, count(*) AS calls, sum(c.module_device_ns)::BIGINT AS self_device_ns, CASE WHEN sum(c.total_device_ns) IS NOT NULL THEN coalesce(sum(c.total_device_ns) FILTER (NOT k.is_nested), 0) END::BIGINT AS total_device_ns,
        sum(c.module_cpu_ns)::BIGINT AS self_cpu_ns, coalesce(sum(c.duration_ns) FILTER (NOT k.is_nested), 0)::BIGINT AS total_cpu_ns
    FROM python_call c JOIN keyed k ON k.stack_id = c.stack_id LEFT JOIN path_stage s ON s.run_id = c.run_id AND s.path_id = c.path_id
    WHERE c.run_id = run AND k.is_module AND (stage IS NULL OR coalesce(s.stage, '(none)') = stage)
    GROUP BY k.module
), backward AS ( -- of the stage of the forward operator; one inside another that is known as backward too is part of that one
    SELECT k.module, sum(b.total_device_ns)::BIGINT AS device_ns
    FROM op b JOIN op f ON f.run_id = b.run_id AND f.op_id = b.forward_op_id JOIN keyed k ON k.stack_id = f.stack_id
    LEFT JOIN op around ON around.run_id = b.run_id AND around.op_id = b.parent_op_id LEFT JOIN path_stage s ON s.run_id = f.run_id AND s.path_id = f.path_id
    WHERE b.run_id = run AND around.forward_op_id IS NULL AND (stage IS NULL OR coalesce(s.stage, '(none)') = stage)
    GROUP BY k.module
), launched AS (
    SELECT sum(c.self_device_ns) AS device_ns
    FROM python_call c LEFT JOIN path_stage s ON s.run_id = c.run_id AND s.path_id = c.path_id
    WHERE c.run_id = run AND (stage IS NULL OR coalesce(s.stage, '(none)') = stage)
)
SELECT row_number() OVER (ORDER BY f.total_device_ns DESC, f.total_cpu_ns DESC, f.module) AS rank, f.module, f.calls, f.self_device_ns, f.total_device_ns, f.self_cpu_ns, f.total_cpu_ns,
    f.self_device_ns / nullif((SELECT launched.device_ns FROM launched), 0) AS share_ratio, b.device_ns AS backward_device_ns
FROM forward f LEFT JOIN backward b ON b.module = f.module
QUALIFY top = 0 OR rank <= top
ORDER BY rank
