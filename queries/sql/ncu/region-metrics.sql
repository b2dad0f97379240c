-- region-metrics v1: Metrics of ranges, CUDA graphs and command lists that Nsight Compute replayed as a whole, by NVTX range.
-- grain: one metric of one profiled region
-- key: launch, metric
-- notes: region
-- params:
--   run VARCHAR: the run
--   metric VARCHAR = NULL: only metrics whose name fits this glob (* any text, ? one character); several with commas between
--   range VARCHAR = NULL: only regions in a range of this name, ids and counters written as #
-- columns:
--   launch: number of the result in the run; of a run with one report, ncu's ID
--   kind: range, graph or cmdlist
--   range: innermost NVTX range, ids and counters as #; NULL when none
--   domain: its NVTX domain; empty for the default one
--   metric: ncu's name of the metric
--   value: the value in the unit next to it; NULL for a text
--   unit: ncu's base unit (% is 0-100); empty for a plain number, NULL when not known
--   text: the value when it is a text or no number
--   path: names of its NVTX ranges, outermost first

SELECT _id_number(l.launch_id) - 1 AS launch, l.kind, p.name AS "range", p.domain, n.name AS metric, m.value, n.unit, m.text, p.path
FROM ncu_metric m
JOIN ncu_launch l ON l.run_id = m.run_id AND l.launch_id = m.launch_id
JOIN ncu_metric_name n ON n.run_id = m.run_id AND n.metric_id = m.metric_id
LEFT JOIN range_path p ON p.run_id = l.run_id AND p.path_id = l.path_id
WHERE m.run_id = run AND l.kind <> 'kernel' AND ("range" IS NULL OR p.name = "range")
    AND _fits(n.name, metric)
ORDER BY l.launch_id, n.name
