-- kernel-spellings v1: Names of the counted capture's kernels in the spelling that the profilers share: Nsight Systems, Nsight Compute and
--     PyTorch's profiler write the same kernel in different ways.
-- grain: one kernel name
-- key: kernel
-- params:
--   run VARCHAR: the run
-- columns:
--   kernel: full kernel name, as its profiler wrote it
--   spelling: the same without namespaces, return types, parameters of templates and types of template values; plain C names stay

SELECT
    n.name AS kernel,
    s.spelling
FROM kernel_spelling s
JOIN kernel_name n ON n.run_id = s.run_id AND n.kernel_name_id = s.kernel_name_id
WHERE s.run_id = run
    AND s.kernel_name_id IN (
        SELECT w.kernel_name_id
        FROM work_sum w
        WHERE w.run_id = run AND w.is_counted
    )
ORDER BY kernel
