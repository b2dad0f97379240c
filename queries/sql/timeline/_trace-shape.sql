-- _trace-shape: Launch shapes of a run's kernels, for a trace.
-- grain: one launch shape
-- key: shape_id
-- params:
--   run VARCHAR: the run
-- columns:
--   shape_id: as in kernel
--   grid_x: blocks in x; NULL, like the others, when the capture does not record it
--   grid_y: blocks in y
--   grid_z: blocks in z
--   block_x: threads of a block in x
--   block_y: threads of a block in y
--   block_z: threads of a block in z
--   register_count: registers of a thread
--   static_shared_bytes: static shared memory of a block
--   dynamic_shared_bytes: dynamic shared memory of a block

SELECT
    s.kernel_shape_id AS shape_id,
    s.grid_x::BIGINT AS grid_x,
    s.grid_y::BIGINT AS grid_y,
    s.grid_z::BIGINT AS grid_z,
    s.block_x::BIGINT AS block_x,
    s.block_y::BIGINT AS block_y,
    s.block_z::BIGINT AS block_z,
    s.register_count::BIGINT AS register_count,
    s.static_shared_bytes::BIGINT AS static_shared_bytes,
    s.dynamic_shared_bytes::BIGINT AS dynamic_shared_bytes
FROM kernel_shape s
WHERE s.run_id = run
