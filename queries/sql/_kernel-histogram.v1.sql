-- _kernel-histogram v1: Kernel executions of a run by name, path of ranges and exact duration: every statistic of kernels follows from it.
-- grain: one kernel name, path and duration
-- key: kernel_name_id, path_id, duration_ns
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only this GPU
-- columns:
--   kernel_name_id: the kernel name
--   path_id: the path of ranges of its launch; 0 outside every range, NULL when the launch was not captured
--   duration_ns: execution time
--   calls: executions that took exactly that long

SELECT k.kernel_name_id, k.path_id, k.duration_ns, count(*) AS calls
FROM kernel k
WHERE k.run_id = _run_id_v1(run) AND (device IS NULL OR k.device_id = device)
GROUP BY k.kernel_name_id, k.path_id, k.duration_ns
