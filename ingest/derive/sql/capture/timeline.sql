-- timeline: The timeline sources of a run, and whether each is counted. A run may have the same work more than once, captured by Nsight Systems, by prof's own tracer and by the PyTorch profiler: no sum may include two of them.
-- grain: one source
-- key: source_id
-- columns:
--   source_id INTEGER: the source
--   kind VARCHAR: nsys, prof, rocprof, torch or xla
--   is_counted BOOLEAN: whether it is the default kind: the first of nsys, prof, rocprof, torch and xla that the run has

SELECT s.source_id, s.kind, s.kind = min(s.kind) OVER (PARTITION BY s.run_id) AS is_counted
FROM source s
WHERE s.run_id = $run AND s.kind IN ('nsys', 'prof', 'rocprof', 'torch', 'xla')
