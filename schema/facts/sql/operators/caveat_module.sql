-- caveat_module: Caveats about calls of nn.Modules.
-- into: caveat
-- needs: python_stack

SELECT 'module' AS topic, 'no-module-calls' AS kind, NULL AS capture, true AS is_counted
WHERE NOT EXISTS (SELECT 1 FROM python_stack s WHERE s.run_id = $run AND s.is_module)
UNION ALL BY NAME
SELECT
    'module' AS topic,
    'modules-of-several-traces' AS kind,
    true AS is_counted,
    count(DISTINCT c.source_id) AS item_count
FROM python_call c
WHERE c.run_id = $run AND c.module_cpu_ns IS NOT NULL
HAVING count(DISTINCT c.source_id) > 1
