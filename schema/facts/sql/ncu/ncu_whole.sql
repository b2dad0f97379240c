-- ncu_whole: CUDA graphs, ranges and command lists that Nsight Compute profiled as wholes, with the measurements that show what limits
--     them, in base units.
-- grain: one profiled launch of a graph, range or command list
-- key: launch_id
-- needs: ncu_launch
-- columns:
--   launch_id BIGINT: the launch
--   kind VARCHAR: graph, range or cmdlist
--   grid VARCHAR: grid size in blocks, x * y * z, that ncu says of a graph; NULL when unknown
--   block VARCHAR: block size in threads, x * y * z, that ncu says of it
--   path_id BIGINT: path of its NVTX ranges; 0 outside every range, NULL when not captured
--   stage VARCHAR: the stage; NULL outside every stage
--   duration_ns DOUBLE: duration in the ncu replay
--   sm_ratio DOUBLE: compute throughput as a share of peak
--   sm_limiter VARCHAR: unit behind sm_ratio, as in ncu_measure
--   sm_metric VARCHAR: metric behind sm_ratio
--   memory_ratio DOUBLE: memory throughput as a share of peak
--   memory_limiter VARCHAR: unit behind memory_ratio, as in ncu_measure
--   memory_metric VARCHAR: metric behind memory_ratio
--   dram_ratio DOUBLE: DRAM throughput as a share of peak
--   l2_ratio DOUBLE: L2 throughput as a share of peak
--   l1_ratio DOUBLE: L1 throughput as a share of peak
--   occupancy_ratio DOUBLE: achieved occupancy

SELECT
    f.launch_id,
    f.kind,
    f.grid,
    f.block,
    f.path_id,
    f.stage,
    f.duration_ns,
    f.sm_ratio,
    f.sm_limiter,
    f.sm_metric,
    f.memory_ratio,
    f.memory_limiter,
    f.memory_metric,
    f.dram_ratio,
    f.l2_ratio,
    f.l1_ratio,
    f.occupancy_ratio
FROM _ncu_figure f
WHERE f.kind <> 'kernel'
