-- caveat_collective: What calls of collectives did not say, in timelines of tools that NCCL tells of its calls.
-- into: caveat
-- needs: collective

SELECT
    'collective' AS topic,
    'collectives-without-bytes' AS kind,
    t.kind AS capture,
    t.is_counted,
    count(*) FILTER (c.in_bytes IS NULL OR c.out_bytes IS NULL) AS item_count,
    count(*) AS of_count
FROM collective c JOIN timeline t ON t.run_id = c.run_id AND t.source_id = c.source_id
WHERE c.run_id = $run AND t.kind IN ('nsys', 'prof')
GROUP BY t.kind, t.is_counted
HAVING count(*) FILTER (c.in_bytes IS NULL OR c.out_bytes IS NULL) > 0
