-- timeline: The sources of a run that hold a timeline of device work, and whether it is counted. A run may hold the same work twice, captured by Nsight Systems and by the PyTorch profiler: no sum may hold both.
-- grain: one source
-- key: source_id
-- columns:
--   source_id INTEGER: the source
--   kind VARCHAR: nsys or torch
--   is_counted BOOLEAN: whether it is the kind that is counted unless the other is asked for: nsys where the run has both

SELECT s.source_id, s.kind, s.kind = min(s.kind) OVER (PARTITION BY s.run_id) AS is_counted
FROM source s
WHERE s.run_id = $run AND s.kind IN ('nsys', 'torch')
