-- timeline: The timeline sources of a run, and sums reported in place of one, and whether each is counted. A run may have the same work more than once, captured by Nsight Systems, by prof's own tracer and by the PyTorch profiler: no sum may include two of them.
-- grain: one source
-- key: source_id
-- columns:
--   source_id INTEGER: the source
--   kind VARCHAR: nsys, prof, rocprof, torch, xla or nsys-stats (sums without a timeline)
--   is_counted BOOLEAN: whether it is the default kind: the first of nsys, prof, rocprof, torch (traces), xla, nsys-stats and torch (tables) that the run has

SELECT s.source_id, s.kind,
    s.kind = arg_min(s.kind, CASE WHEN s.kind = 'nsys' THEN 1 WHEN s.kind = 'prof' THEN 2 WHEN s.kind = 'rocprof' THEN 3 WHEN s.form = 'torch-averages' THEN 7 WHEN s.kind = 'torch' THEN 4 WHEN s.kind = 'xla' THEN 5 ELSE 6 END) OVER (PARTITION BY s.run_id) AS is_counted
FROM source s
WHERE s.run_id = $run AND s.kind IN ('nsys', 'prof', 'rocprof', 'torch', 'xla', 'nsys-stats')
