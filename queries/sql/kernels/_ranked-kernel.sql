-- _ranked-kernel: The kernels that rankings are of, by exact duration, and whether each is left out.
-- grain: one row of kernel_duration
-- key: none
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only kernels launched in this stage; (none) for kernels outside every stage
--   device BIGINT = NULL: only this GPU
--   warmup BOOLEAN = false: leave nothing out
--   {source}
-- columns:
--   stage: stage of the launch; (none) outside every stage, or when it was not captured
--   scope: part of the run, as _scope has it
--   is_left: whether rankings leave it out
--   device_id: GPU
--   kernel_name_id: kernel name
--   grid_x: as in kernel_duration, like all columns below
--   grid_y: blocks in y
--   grid_z: blocks in z
--   block_x: threads in x
--   block_y: threads in y
--   block_z: threads in z
--   duration_ns: execution time
--   launch_count: executions of exactly that duration
--   register_count: registers per thread
--   shared_bytes: shared memory per block

SELECT
    coalesce(s.stage, '(none)') AS stage,
    k.scope,
    NOT _counts(k.scope, stage, warmup) AS is_left,
    k.device_id,
    k.kernel_name_id,
    k.grid_x,
    k.grid_y,
    k.grid_z,
    k.block_x,
    k.block_y,
    k.block_z,
    k.duration_ns,
    k.launch_count,
    k.register_count,
    k.shared_bytes
FROM kernel_duration k LEFT JOIN path_stage s ON s.run_id = k.run_id AND s.path_id = k.path_id
WHERE k.run_id = run
    AND k.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
    AND (device IS NULL OR k.device_id = device)
    AND (stage IS NULL OR coalesce(s.stage, '(none)') = stage)
