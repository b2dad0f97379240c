-- _kernel-histogram: Kernel executions of a capture by name, path of ranges and exact duration: every statistic of kernels follows from it.
-- grain: one source, kernel name, path and duration
-- key: source_id, kernel_name_id, path_id, duration_ns
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only this GPU
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   source_id: the source
--   kernel_name_id: the kernel name
--   path_id: the path of ranges of its launch; 0 outside every range, NULL when the launch was not captured
--   duration_ns: execution time
--   calls: executions that took exactly that long

WITH h AS ( -- by source, so that the sources can be looked up without touching each kernel
    SELECT k.source_id, k.kernel_name_id, k.path_id, k.duration_ns, count(*) AS calls
    FROM kernel k
    WHERE k.run_id = run AND (device IS NULL OR k.device_id = device)
    GROUP BY k.source_id, k.kernel_name_id, k.path_id, k.duration_ns
)
SELECT h.source_id, h.kernel_name_id, h.path_id, h.duration_ns, h.calls
FROM h
WHERE h.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
