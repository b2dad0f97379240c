-- timeline: The timeline sources of a run, and sums reported in place of one, and whether each is counted. A run may have the same work more than once, captured by Nsight Systems, by prof's own tracer and by the PyTorch profiler: no sum may include two of them.
-- grain: one source
-- key: source_id
-- columns:
--   source_id INTEGER: the source
--   kind VARCHAR: nsys, prof, torch or nsys-stats (sums without a timeline)
--   is_counted BOOLEAN: whether it is the default kind: the first of nsys, prof, torch (traces), nsys-stats and torch (tables) that the run has

SELECT s.source_id, s.kind,
    s.kind = arg_min(s.kind, CASE s.kind WHEN 'nsys' THEN 1 WHEN 'prof' THEN 2 WHEN 'nsys-stats' THEN 4 ELSE CASE WHEN s.form = 'torch-averages' THEN 5 ELSE 3 END END) OVER (PARTITION BY s.run_id) AS is_counted
FROM source s
WHERE s.run_id = $run AND s.kind IN ('nsys', 'prof', 'torch', 'nsys-stats')
