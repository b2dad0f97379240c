-- _condition_fact: What a run's sources say of drivers, libraries, the CPU and the options that they were captured with.
-- grain: one statement about an aspect of a run
-- key: source_id, aspect, value
-- needs: source_fact
-- columns:
--   source_id INTEGER: the source that says it; NULL when it follows from several
--   priority INTEGER: of several statements about an aspect those of the lowest number hold
--   aspect VARCHAR: what it is about
--   value VARCHAR: what is said of it; NULL when nothing is
--   weight VARCHAR: decides, clouds or tells, as in run-conditions

-- The process of the workload knows its versions better than prof, which asks the Python that the command line seems to name. The PyTorch
-- profiler writes only those of its options down that are on.
SELECT DISTINCT
    f.source_id,
    coalesce(k.priority, 1) AS priority,
    coalesce(
        k.aspect,
        CASE
            WHEN starts_with(f.key, 'env.variables.') THEN 'variable ' || substr(f.key, 15)
            ELSE 'package ' || substr(f.key, 21)
        END
    ) AS aspect,
    CASE k.form
        WHEN 'cuda'
            THEN CASE
                WHEN regexp_full_match(f.value, '[0-9]{4,6}')
                    THEN (f.value::BIGINT // 1000) || '.' || (f.value::BIGINT % 1000 // 10)
                ELSE f.value
            END
        WHEN 'flag'
            THEN CASE WHEN f.value IN ('1', 'true') THEN 'on' WHEN f.value IN ('0', 'false') THEN 'off' ELSE f.value END
        WHEN 'hz' THEN format('{:.0f} MHz', try_cast(f.value AS DOUBLE) / 1e6)
        ELSE f.value
    END AS value,
    coalesce(k.weight, 'clouds') AS weight
FROM source_fact f
JOIN source s ON s.run_id = f.run_id AND s.source_id = f.source_id
LEFT JOIN (
    VALUES ('capture', 'env.driver_version', 'driver', 'clouds', 0, ''),
        ('nsys', 'driver.version', 'driver', 'clouds', 1, ''), ('ncu', 'driver.version', 'driver', 'clouds', 2, ''),
        ('capture', 'env.driver_cuda_version', 'CUDA of the driver', 'clouds', 0, 'cuda'),
        ('nsys', 'driver.cuda_version', 'CUDA of the driver', 'clouds', 1, 'cuda'),
        ('torch', 'torch.cuda_driver_version', 'CUDA of the driver', 'clouds', 2, 'cuda'),
        ('ncu', 'driver.cuda_version', 'CUDA of the driver', 'clouds', 3, 'cuda'),
        ('torch', 'torch.cuda_runtime_version', 'CUDA runtime', 'clouds', 0, 'cuda'),
        ('workload', 'workload.torch_cuda', 'CUDA of torch', 'clouds', 0, ''),
        ('capture', 'env.python.torch_cuda', 'CUDA of torch', 'clouds', 1, ''),
        ('torch', 'torch.cupti_version', 'CUPTI', 'clouds', 0, ''),
        ('torch', 'torch.hip_driver_version', 'HIP of the driver', 'clouds', 0, ''),
        ('torch', 'torch.hip_runtime_version', 'HIP runtime', 'clouds', 0, ''),
        ('torch', 'job.world_size', 'ranks', 'decides', 0, ''), ('torch', 'job.nccl_version', 'NCCL', 'clouds', 0, ''),
        ('torch', 'job.backend', 'backend of collectives', 'clouds', 0, ''),
        ('workload', 'workload.python', 'Python', 'clouds', 0, ''),
        ('workload', 'workload.torch', 'package torch', 'clouds', 0, ''),
        ('workload', 'workload.transformers', 'package transformers', 'clouds', 0, ''),
        ('capture', 'env.python.version', 'Python', 'clouds', 1, ''),
        ('capture', 'env.cpu.model', 'CPU', 'clouds', 0, ''), ('nsys', 'cpu.description', 'CPU', 'clouds', 1, ''),
        ('ncu', 'cpu.description', 'CPU', 'clouds', 2, ''), ('capture', 'env.cpu.usable', 'CPU cores', 'clouds', 0, ''),
        ('nsys', 'cpu.cores', 'CPU cores', 'clouds', 1, ''), ('capture', 'env.os', 'operating system', 'tells', 0, ''),
        ('nsys', 'os.description', 'operating system', 'tells', 1, ''),
        ('capture', 'env.container.kind', 'container', 'tells', 0, ''),
        ('capture', 'env.device_details.#.application_sm_clock_hz', 'application clock', 'clouds', 0, 'hz'),
        ('nsys', 'capture.trace', 'nsys trace', 'clouds', 0, ''),
        ('nsys', 'capture.cuda_graph_trace', 'nsys trace of CUDA graphs', 'clouds', 0, ''),
        ('prof', 'capture.working_dir', 'folder', 'tells', 1, ''),
        ('prof', 'capture.cuda_graph_trace', 'prof trace of CUDA graphs', 'clouds', 0, ''),
        ('nsys', 'capture.gpu_memory_usage', 'nsys trace of GPU memory', 'clouds', 0, 'flag'),
        ('nsys', 'capture.osrt_threshold_ns', 'nsys threshold of OS calls in ns', 'clouds', 0, ''),
        ('nsys', 'capture.osrt_backtraces', 'nsys backtraces of OS calls', 'clouds', 0, 'flag'),
        ('nsys', 'capture.nvtx_domain_filter', 'nsys filter of NVTX domains', 'clouds', 0, ''),
        ('nsys', 'capture.sample_all_tasks', 'nsys samples of all tasks', 'clouds', 0, 'flag'),
        ('nsys', 'capture.include_children', 'nsys trace of children', 'clouds', 0, 'flag'),
        ('nsys', 'capture.start_trigger', 'capture start', 'clouds', 0, ''),
        ('nsys', 'capture.stop_trigger', 'capture end', 'clouds', 0, ''),
        ('nsys', 'capture.start_delay_ms', 'capture delay in ms', 'clouds', 0, ''),
        ('nsys', 'capture.working_dir', 'folder', 'tells', 1, ''),
        ('ncu', 'capture.launch_skip', 'ncu launch skip', 'clouds', 0, ''),
        ('ncu', 'capture.launch_count', 'ncu launch count', 'clouds', 0, ''),
        ('ncu', 'capture.kernel_name', 'ncu kernels', 'clouds', 0, ''),
        ('ncu', 'capture.nvtx_include', 'ncu ranges', 'clouds', 0, ''),
        ('ncu', 'capture.clock_control', 'ncu clock control', 'clouds', 0, ''),
        ('ncu', 'capture.cache_control', 'ncu cache control', 'clouds', 0, ''),
        ('ncu', 'capture.replay_mode', 'ncu replay', 'clouds', 0, ''),
        ('ncu', 'capture.graph_profiling', 'ncu graphs', 'clouds', 0, ''),
        ('ncu', 'capture.set', 'ncu set', 'tells', 0, ''),
        ('torch', 'torch.record_shapes', 'torch record_shapes', 'clouds', 0, 'flag'),
        ('torch', 'torch.profile_memory', 'torch profile_memory', 'clouds', 0, 'flag'),
        ('torch', 'torch.with_stack', 'torch with_stack', 'clouds', 0, 'flag'),
        ('torch', 'torch.with_flops', 'torch with_flops', 'clouds', 0, 'flag'),
        ('torch', 'torch.with_modules', 'torch with_modules', 'clouds', 0, 'flag'),
        ('reported', 'reported.environment.torch', 'package torch', 'clouds', 2, ''),
        ('reported', 'reported.environment.transformers', 'package transformers', 'clouds', 2, ''),
        ('reported', 'reported.environment.cuda', 'CUDA of torch', 'clouds', 2, '')
) k(kind, key, aspect, weight, priority, form)
    ON (k.kind = s.kind OR s.kind = 'prof' AND k.kind = 'nsys' AND NOT starts_with(f.key, 'capture.'))
    AND k.key = regexp_replace(f.key, '[.][0-9]+[.]', '.#.')
WHERE f.run_id = $run
    AND (
        k.key IS NOT NULL
        OR s.kind = 'capture' AND (starts_with(f.key, 'env.variables.') OR starts_with(f.key, 'env.python.packages.'))
    )
