-- _note-operator: Whose operators are counted, or why the run has none. Apart from _run-note, which DuckDB plans for longer than this runs.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
--   by VARCHAR = 'name': as in top-operators
--   operator VARCHAR = NULL: as in top-operators
--   source VARCHAR = NULL: torch, nsys or key_averages; by default the first of them that the run has
-- columns:
--   note: the sentence

WITH have AS (
    SELECT c.capture, c.source_id FROM _operator_source(run, source := 'torch') c
    UNION ALL SELECT c.capture, c.source_id FROM _operator_source(run, source := 'nsys') c
    UNION ALL SELECT c.capture, c.source_id FROM _operator_source(run, source := 'key_averages') c
), counted AS (
    SELECT c.capture, c.source_id FROM _operator_source(run, source := source) c
), which AS (
    SELECT (SELECT min(counted.capture) FROM counted) AS used, string_agg(DISTINCT h.capture, ', ' ORDER BY h.capture) AS all_of,
        string_agg(DISTINCT h.capture, ', ' ORDER BY h.capture) FILTER (h.capture NOT IN (SELECT counted.capture FROM counted)) AS others
    FROM have h
)
SELECT format('the run has operators of {}; this counts those of {}: --source {} for others', w.all_of, w.used, replace(w.others, ', ', ' or ')) AS note
FROM which w WHERE w.used IS NOT NULL AND w.others IS NOT NULL
UNION ALL
SELECT format('the operators of {} traces are added up', count(*)) FROM counted WHERE counted.capture <> 'key_averages' HAVING count(*) > 1
UNION ALL
SELECT 'these are PyTorch''s sums: it does not tell ranges and its own overhead from operators' || CASE WHEN count(*) = 1 THEN '' ELSE format('; of {} tables this counts {}', count(*),
        (SELECT s.path FROM source s JOIN _average_source(run, "by" := "by") a ON a.source_id = s.source_id WHERE s.run_id = run)) END
FROM counted WHERE counted.capture = 'key_averages' HAVING count(*) > 0
UNION ALL
SELECT CASE WHEN w.all_of IS NOT NULL THEN format('the run has no operators of {}, but of {}', source, w.all_of)
    ELSE 'the run has no operators: the PyTorch profiler records them with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], Nsight Systems within torch.autograd.profiler.emit_nvtx(record_shapes=True)' END
FROM which w JOIN run r ON r.run_id = run
WHERE w.used IS NULL
UNION ALL
SELECT format('no operator fits {}; the nearest are {}; a name is matched whole, * stands for any text', operator, string_agg(x.name, ', ' ORDER BY x.distance, x.name))
FROM (
    SELECT n.name, CASE WHEN contains(lower(n.name), trim(lower(operator), '* ')) THEN 0 ELSE 2 - jaro_winkler_similarity(lower(n.name), lower(operator)) END AS distance
    FROM (SELECT o.name FROM op_name o WHERE o.run_id = run UNION SELECT a.name FROM op_average a WHERE a.run_id = run AND a.kind = 'cpu') n
    QUALIFY row_number() OVER (ORDER BY distance, n.name) <= 8
) x
WHERE NOT EXISTS (SELECT 1 FROM op_name o WHERE o.run_id = run AND _fits(o.name, operator))
    AND NOT EXISTS (SELECT 1 FROM op_average a WHERE a.run_id = run AND a.kind = 'cpu' AND _fits(a.name, operator))
HAVING count(*) > 0
