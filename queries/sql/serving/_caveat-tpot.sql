-- _caveat-tpot: What the steps of tpot-causes are not, and why the client's TPOT is not compared with them.
-- grain: one caveat, as in the table caveat
-- key: kind
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only this GPU
--   {source}
-- columns:
--   kind: what it says
--   item_count: how many

WITH i AS (
    SELECT i.stage, i.decode_count, i.decode_token_count
    FROM iteration i
    WHERE i.run_id = run
        AND i.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND (device IS NULL OR i.device_id = device)
        AND i.stage IN ('decode', 'mixed')
), t AS (
    SELECT count(*) AS steps
    FROM _tpot_step(run, device := device, source := source) t
), b AS (
    SELECT count(*) AS benchmarks
    FROM served d
    WHERE d.run_id = run
)
SELECT
    'no-decode-steps' AS kind,
    (SELECT count(*) FROM i) AS item_count
FROM t
WHERE t.steps = 0
UNION ALL
SELECT
    'tokens-speculated',
    count(*)
FROM i
WHERE i.decode_token_count > i.decode_count
HAVING count(*) > 0
UNION ALL
SELECT 'several-benchmarks', b.benchmarks
FROM b CROSS JOIN t
WHERE b.benchmarks > 1 AND t.steps > 0
UNION ALL
SELECT 'client-beyond-capture', b.benchmarks
FROM b CROSS JOIN t
WHERE b.benchmarks = 1
    AND t.steps > 0
    AND NOT EXISTS (SELECT 1 FROM serving_window v WHERE v.run_id = run AND v.client_tpot_ns IS NOT NULL)
