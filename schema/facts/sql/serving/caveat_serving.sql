-- caveat_serving: Caveats about benchmarks of serving engines.
-- into: caveat
-- needs: served

SELECT
    'serving' AS topic,
    'requests-alone' AS kind,
    true AS is_counted,
    b.tool AS subject,
    count(*) AS item_count
FROM served d
JOIN serving_benchmark b ON b.run_id = $run AND b.source_id = d.source_id AND b.benchmark_id = d.benchmark_id
JOIN source s ON s.run_id = $run AND s.source_id = d.source_id
WHERE d.run_id = $run AND s.form LIKE '%-requests'
GROUP BY b.tool
UNION ALL BY NAME
SELECT
    'serving' AS topic,
    'requests-differ' AS kind,
    true AS is_counted,
    count(*) AS item_count
FROM served d
WHERE d.run_id = $run AND d.request_source_id IS NULL
HAVING count(*) > 0
