-- _trace-name: Names of a run by their ids, for a trace.
-- grain: one name
-- key: kind_id, name_id
-- params:
--   run VARCHAR: the run
-- columns:
--   kind_id: 1 kernel, 2 Python function, 3 operator, 5 function of CUDA, of a library or of the system
--   name_id: its id in the run
--   name: the name
--   family: kernel family by kernel_rule; NULL when no rule matches
--   role: what kernels of the family do; NULL when no rule matches

SELECT
    1::BIGINT AS kind_id,
    n.kernel_name_id AS name_id,
    n.name,
    c.family,
    c.role
FROM kernel_name n
LEFT JOIN kernel_class c ON c.run_id = n.run_id AND c.kernel_name_id = n.kernel_name_id
WHERE n.run_id = run
UNION ALL
SELECT 2, s.stack_id, s.function, NULL, NULL
FROM python_stack s
WHERE s.run_id = run
UNION ALL
SELECT 3, o.op_name_id, o.name, NULL, NULL
FROM op_name o
WHERE o.run_id = run
UNION ALL
SELECT 5, a.api_name_id, a.name, NULL, NULL
FROM api_name a
WHERE a.run_id = run
