-- caveat_input: Caveats about which pass worked on which input: inputs that are not in the manifest, and passes whose input is not known.
-- into: caveat
-- needs: workload_pass|stage_execution

WITH told AS (
    SELECT w.input
    FROM workload_pass w
    WHERE w.run_id = $run
    UNION
    SELECT e.input
    FROM stage_execution e
    WHERE e.run_id = $run
), known AS (
    SELECT count(i.input) AS n
    FROM capture_input i
    WHERE i.run_id = $run
)
SELECT
    'input' AS topic,
    CASE k.n WHEN 0 THEN 'inputs-without-manifest' ELSE 'unknown-input' END AS kind,
    true AS is_counted,
    min(t.input) AS object,
    count(*) AS item_count
FROM told t CROSS JOIN known k
WHERE t.input IS NOT NULL
    AND t.input NOT IN (
        SELECT i.input
        FROM capture_input i
        WHERE i.run_id = $run AND i.input IS NOT NULL
    )
GROUP BY k.n
UNION ALL BY NAME
SELECT
    'input' AS topic,
    'passes-without-input' AS kind,
    t.kind AS capture,
    p.is_counted,
    p.stage,
    count(*) FILTER (i.range_id IS NULL) AS item_count,
    count(*) AS of_count
FROM stage_pass p
JOIN timeline t ON t.run_id = p.run_id AND t.source_id = p.source_id
LEFT JOIN pass_input i ON i.run_id = $run AND i.range_id = p.range_id
CROSS JOIN known k
WHERE p.run_id = $run AND NOT p.is_warmup AND k.n > 0
GROUP BY t.kind, p.is_counted, p.stage
HAVING count(*) > count(i.range_id)
