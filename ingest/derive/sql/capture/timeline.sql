-- timeline: The timeline sources of a run, and whether each is counted. A run may have the same work twice, captured by Nsight Systems and by the PyTorch profiler: no sum may include both.
-- grain: one source
-- key: source_id
-- columns:
--   source_id INTEGER: the source
--   kind VARCHAR: nsys or torch
--   is_counted BOOLEAN: whether it is the default kind: nsys where the run has both

SELECT s.source_id, s.kind, s.kind = min(s.kind) OVER (PARTITION BY s.run_id) AS is_counted
FROM source s
WHERE s.run_id = $run AND s.kind IN ('nsys', 'torch')
