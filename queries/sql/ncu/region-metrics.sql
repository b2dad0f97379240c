-- region-metrics v1: Metrics of ranges, CUDA graphs and command lists that Nsight Compute replayed as a whole, by NVTX range.
-- grain: one metric of one profiled region
-- key: launch, metric
-- notes: region
-- params:
--   run VARCHAR: the run
--   metric VARCHAR = NULL: only metrics whose name matches this glob (* any text, ? one character); several separated by commas
--   range VARCHAR = NULL: only regions in a range of this name, with ids and counters as #
-- columns:
--   launch: result number in the run; in a run with one report, ncu's ID
--   kind: range, graph or cmdlist
--   range: innermost NVTX range, with ids and counters as #; NULL outside every range
--   domain: NVTX domain; empty for the default one
--   metric: ncu metric name
--   value: metric value, in unit; NULL for text
--   unit: ncu base unit (% is 0-100); empty for a plain number, NULL when unknown
--   text: value that is text or not a number
--   path: NVTX range names, outermost first

SELECT
    _id_number(l.launch_id) - 1 AS launch,
    l.kind,
    p.name AS "range",
    p.domain,
    n.name AS metric,
    m.value,
    n.unit,
    m.text,
    p.path
FROM ncu_metric m
JOIN ncu_launch l ON l.run_id = m.run_id AND l.launch_id = m.launch_id
JOIN ncu_metric_name n ON n.run_id = m.run_id AND n.metric_id = m.metric_id
LEFT JOIN range_path p ON p.run_id = l.run_id AND p.path_id = l.path_id
WHERE m.run_id = run AND l.kind <> 'kernel' AND ("range" IS NULL OR p.name = "range") AND _fits(n.name, metric)
ORDER BY l.launch_id, n.name
