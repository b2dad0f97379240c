-- _ncu_figure: What Nsight Compute profiled, kernel launches, and graphs, ranges and command lists as wholes, with the measurements that
--     show what limits it, in base units.
-- grain: one result of Nsight Compute
-- key: launch_id
-- needs: ncu_launch
-- columns:
--   launch_id BIGINT: the launch
--   kind VARCHAR: kernel, graph, range or cmdlist
--   source_id INTEGER: the source
--   device_id INTEGER: GPU; NULL when unknown
--   device VARCHAR: GPU name; NULL when unknown
--   kernel_name_id BIGINT: kernel name as Nsight Compute spells it; NULL unless a kernel
--   family VARCHAR: kernel family by kernel_rule; NULL when no rule matches
--   role VARCHAR: what kernels of the family do; NULL when no rule matches
--   grid VARCHAR: grid size in blocks, x * y * z; of a graph what ncu says of it
--   block VARCHAR: block size in threads, x * y * z
--   path_id BIGINT: path of its NVTX ranges; 0 outside every range, NULL when not captured
--   stage VARCHAR: the stage; NULL outside every stage
--   duration_ns DOUBLE: duration in the ncu replay (gpu__time_duration.sum)
--   sm_ratio DOUBLE: compute throughput as a share of peak (sm__throughput)
--   sm_limiter VARCHAR: unit behind sm_ratio: tensor, fp32 (the FMA pipe), fp64, fp16, alu, xu, lsu, tex, uniform, branch, issue, other
--   sm_metric VARCHAR: metric behind sm_ratio
--   memory_ratio DOUBLE: memory throughput as a share of peak, from ncu's summary metric (gpu__compute_memory_throughput): the highest of
--     selected DRAM, L2 and L1 metrics. l2_ratio and l1_ratio use more metrics and can be higher
--   memory_limiter VARCHAR: unit behind memory_ratio: dram, l2, l1
--   memory_metric VARCHAR: metric behind memory_ratio
--   dram_ratio DOUBLE: DRAM throughput as a share of peak (gpu__dram_throughput, dram__throughput)
--   l2_ratio DOUBLE: L2 throughput as a share of peak (lts__throughput)
--   l1_ratio DOUBLE: L1 throughput as a share of peak (l1tex__throughput)
--   l1_hit_ratio DOUBLE: L1 sector hit rate
--   l2_hit_ratio DOUBLE: L2 sector hit rate
--   occupancy_ratio DOUBLE: achieved occupancy: active warps / maximum warps per SM (sm__warps_active)
--   theoretical_occupancy_ratio DOUBLE: theoretical occupancy: the limit set by registers, shared memory and block size
--   waves DOUBLE: full waves of blocks over all SMs
--   register_count BIGINT: registers per thread
--   shared_bytes BIGINT: shared memory per block, the driver's share included where known
--   dram_read_bytes DOUBLE: bytes read from DRAM
--   dram_write_bytes DOUBLE: bytes written to DRAM
--   dram_bytes DOUBLE: DRAM bytes read and written
--   dram_bytes_per_s DOUBLE: DRAM bandwidth achieved
--   dram_peak_bytes_per_s DOUBLE: peak DRAM bandwidth at the clock of the launch
--   sm_hz DOUBLE: SM clock during the replay
--   fp64_flop DOUBLE: FP64 operations outside tensor cores; a multiply-add is 2
--   fp32_flop DOUBLE: FP32 operations. NULL on compute capability 10 unless packed FFMA2 operations, which ncu's sections omit, were
--     collected too
--   fp16_flop DOUBLE: FP16 operations outside tensor cores, an upper bound: ncu also counts HFMA2 instructions that only move constants
--   tensor_flop DOUBLE: tensor core operations of the measured types, padding included; NULL when none was measured
--   flop DOUBLE: FP64, FP32 and tensor operations; FP16, an upper bound, is excluded; NULL when one of the three was not measured

-- Names are sorted out before values are read: there are a thousand times fewer.
WITH name AS (
    SELECT n.metric_id, n.name
    FROM ncu_metric_name n
    WHERE n.run_id = $run
), x AS (
    SELECT m.launch_id, name.name, m.value
    FROM ncu_metric m JOIN name ON name.metric_id = m.metric_id
    WHERE m.run_id = $run AND m.value IS NOT NULL
), v AS (
    SELECT
        x.launch_id,
        coalesce(
            max(x.value) FILTER (x.name = 'gpu__time_duration.sum'),
            max(x.value) FILTER (x.name = 'gpu__time_duration.avg')
        ) AS duration_ns,
        max(x.value) FILTER (x.name = 'sm__throughput.avg.pct_of_peak_sustained_elapsed') AS sm_percent,
        max(x.value) FILTER (
            x.name = 'gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed'
        ) AS memory_percent,
        coalesce(
            max(x.value) FILTER (x.name = 'gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed'),
            max(x.value) FILTER (x.name = 'dram__throughput.avg.pct_of_peak_sustained_elapsed')
        )
            / 100 AS dram_ratio,
        max(x.value) FILTER (x.name = 'lts__throughput.avg.pct_of_peak_sustained_elapsed') / 100 AS l2_ratio,
        coalesce(
            max(x.value) FILTER (x.name = 'l1tex__throughput.avg.pct_of_peak_sustained_active'),
            max(x.value) FILTER (x.name = 'l1tex__throughput.avg.pct_of_peak_sustained_elapsed')
        )
            / 100 AS l1_ratio,
        max(x.value) FILTER (x.name = 'l1tex__t_sector_hit_rate.pct') / 100 AS l1_hit_ratio,
        max(x.value) FILTER (x.name = 'lts__t_sector_hit_rate.pct') / 100 AS l2_hit_ratio,
        max(x.value) FILTER (x.name = 'sm__warps_active.avg.pct_of_peak_sustained_active') / 100 AS occupancy_ratio,
        max(x.value) FILTER (x.name = 'sm__maximum_warps_per_active_cycle_pct') / 100 AS theoretical_occupancy_ratio,
        max(x.value) FILTER (x.name = 'launch__waves_per_multiprocessor') AS waves,
        max(x.value) FILTER (x.name = 'launch__registers_per_thread')::BIGINT AS register_count,
        coalesce(
            max(x.value) FILTER (x.name = 'launch__shared_mem_per_block'),
            max(x.value) FILTER (x.name = 'launch__shared_mem_per_block_static')
                + max(x.value) FILTER (x.name = 'launch__shared_mem_per_block_dynamic')
                + coalesce(max(x.value) FILTER (x.name = 'launch__shared_mem_per_block_driver'), 0)
        )::BIGINT AS shared_bytes,
        max(x.value) FILTER (x.name = 'dram__bytes_read.sum') AS dram_read_bytes,
        max(x.value) FILTER (x.name = 'dram__bytes_write.sum') AS dram_write_bytes,
        max(x.value) FILTER (x.name = 'dram__bytes.sum') AS dram_sum_bytes,
        max(x.value) FILTER (x.name = 'dram__bytes.sum.per_second') AS dram_rate,
        max(x.value) FILTER (x.name = 'dram__bytes.sum.peak_sustained')
            * max(x.value) FILTER (x.name = 'dram__cycles_elapsed.avg.per_second') AS dram_peak_bytes_per_s,
        _dims(
            max(x.value) FILTER (x.name = 'launch__grid_dim_x')::BIGINT,
            max(x.value) FILTER (x.name = 'launch__grid_dim_y')::BIGINT,
            max(x.value) FILTER (x.name = 'launch__grid_dim_z')::BIGINT
        ) AS grid,
        _dims(
            max(x.value) FILTER (x.name = 'launch__block_dim_x')::BIGINT,
            max(x.value) FILTER (x.name = 'launch__block_dim_y')::BIGINT,
            max(x.value) FILTER (x.name = 'launch__block_dim_z')::BIGINT
        ) AS block,
        max(x.value) FILTER (x.name = 'sm__cycles_elapsed.avg.per_second') AS sm_hz
    FROM x
    GROUP BY x.launch_id
), b AS (
    SELECT
        v.launch_id,
        coalesce(
            v.dram_sum_bytes,
            v.dram_read_bytes + v.dram_write_bytes,
            v.dram_rate * v.duration_ns / 1e9
        ) AS dram_bytes
    FROM v
), part AS ( -- units by their metrics; sums of several are none, but for those of a whole memory
    SELECT
        name.metric_id,
        name.name,
        CASE
            WHEN name.name LIKE '%throughput%'
                AND NOT regexp_matches(name.name, '^(gpu__dram|dram_|lts_|l1tex_)_throughput\.')
                THEN NULL
            WHEN regexp_matches(name.name, '^(dram|fbpa|fbp|gpu__dram|lts|ltc|l1tex)_') THEN 'memory'
            WHEN regexp_matches(name.name, '^(sm|smsp|idc)__') THEN 'sm'
        END AS side,
        CASE
            WHEN regexp_matches(name.name, '^(dram|fbpa|fbp|gpu__dram)_') THEN 'dram'
            WHEN regexp_matches(name.name, '^(lts|ltc)__') THEN 'l2'
            WHEN regexp_matches(name.name, '^l1tex__') THEN 'l1'
            WHEN regexp_matches(name.name, 'tensor_op_dmma|pipe_fp64') THEN 'fp64'
            WHEN name.name LIKE '%tensor%' THEN 'tensor'
            WHEN regexp_matches(name.name, 'pipe_(fp16|fma_type_fp16)') THEN 'fp16'
            WHEN regexp_matches(name.name, 'pipe_fma(heavy|lite)?[._]') THEN 'fp32'
            WHEN regexp_matches(name.name, 'pipe_alu') THEN 'alu'
            WHEN regexp_matches(name.name, 'pipe_xu') THEN 'xu'
            WHEN regexp_matches(name.name, 'pipe_lsu|__mio') THEN 'lsu'
            WHEN regexp_matches(name.name, 'pipe_tex') THEN 'tex'
            WHEN regexp_matches(name.name, 'pipe_uniform') THEN 'uniform'
            WHEN regexp_matches(name.name, 'pipe_(adu|cbu)') THEN 'branch'
            WHEN regexp_matches(name.name, '__(issue_active|inst_executed|inst_issued)\.') THEN 'issue'
            ELSE 'other'
        END AS limiter
    FROM name
    WHERE name.name LIKE '%.avg.pct\_of\_peak\_sustained\_elapsed' ESCAPE '\'
), hit AS ( -- ncu's throughputs are the highest of their breakdown: what sets one is the metric that has the same value
    SELECT
        m.launch_id,
        part.side,
        part.name,
        part.limiter,
        -- of several with the same value the most telling: a pipe before the sum of several or the issue slots
        row_number() OVER (
            PARTITION BY m.launch_id, part.side
            ORDER BY list_position(
                    [
                        'dram', 'l2', 'l1', 'tensor', 'fp64', 'fp32', 'fp16', 'xu', 'alu', 'lsu', 'tex', 'uniform',
                        'issue', 'branch', 'other'
                    ],
                    part.limiter
                ), part.name LIKE '%throughput%', part.name
        ) AS place
    FROM ncu_metric m
    JOIN part ON part.metric_id = m.metric_id AND part.side IS NOT NULL
    JOIN v
        ON v.launch_id = m.launch_id AND m.value = CASE part.side WHEN 'sm' THEN v.sm_percent ELSE v.memory_percent END
    WHERE m.run_id = $run
), lead AS (
    SELECT
        hit.launch_id,
        max(hit.limiter) FILTER (hit.side = 'sm') AS sm_limiter,
        max(hit.name) FILTER (hit.side = 'sm') AS sm_metric,
        max(hit.limiter) FILTER (hit.side = 'memory') AS memory_limiter,
        max(hit.name) FILTER (hit.side = 'memory') AS memory_metric
    FROM hit
    WHERE hit.place = 1
    GROUP BY hit.launch_id
), f AS (
    SELECT
        o.launch_id,
        max(o.flop) FILTER (o.resource = 'fp64') AS fp64_flop,
        max(o.flop) FILTER (o.resource = 'fp32') AS fp32_flop,
        max(o.flop) FILTER (o.resource = 'fp16') AS fp16_flop,
        sum(o.flop) FILTER (o.resource LIKE 'tensor_%') AS tensor_flop
    FROM ncu_flop o
    WHERE o.run_id = $run
    GROUP BY o.launch_id
), d AS (
    SELECT
        d.source_id,
        d.device_id,
        min(d.name) AS device
    FROM device d
    WHERE d.run_id = $run
    GROUP BY d.source_id, d.device_id
)
SELECT
    l.launch_id,
    l.kind,
    l.source_id,
    l.device_id,
    d.device,
    l.kernel_name_id,
    c.family,
    c.role,
    CASE l.kind WHEN 'kernel' THEN _dims(l.grid_x, l.grid_y, l.grid_z) ELSE v.grid END AS grid,
    CASE l.kind WHEN 'kernel' THEN _dims(l.block_x, l.block_y, l.block_z) ELSE v.block END AS block,
    l.path_id,
    s.stage,
    v.duration_ns,
    v.sm_percent / 100 AS sm_ratio,
    lead.sm_limiter,
    lead.sm_metric,
    v.memory_percent / 100 AS memory_ratio,
    lead.memory_limiter,
    lead.memory_metric,
    v.dram_ratio,
    v.l2_ratio,
    v.l1_ratio,
    v.l1_hit_ratio,
    v.l2_hit_ratio,
    v.occupancy_ratio,
    v.theoretical_occupancy_ratio,
    v.waves,
    v.register_count,
    v.shared_bytes,
    v.dram_read_bytes,
    v.dram_write_bytes,
    b.dram_bytes,
    coalesce(v.dram_rate, b.dram_bytes / nullif(v.duration_ns, 0) * 1e9) AS dram_bytes_per_s,
    v.dram_peak_bytes_per_s,
    v.sm_hz,
    f.fp64_flop,
    f.fp32_flop,
    f.fp16_flop,
    f.tensor_flop,
    f.fp32_flop + f.tensor_flop + f.fp64_flop AS flop
FROM ncu_launch l
LEFT JOIN kernel_class c ON c.run_id = l.run_id AND c.kernel_name_id = l.kernel_name_id
LEFT JOIN path_stage s ON s.run_id = l.run_id AND s.path_id = l.path_id
LEFT JOIN d ON d.source_id = l.source_id AND d.device_id = l.device_id
LEFT JOIN v ON v.launch_id = l.launch_id
LEFT JOIN b ON b.launch_id = l.launch_id
LEFT JOIN lead ON lead.launch_id = l.launch_id
LEFT JOIN f ON f.launch_id = l.launch_id
WHERE l.run_id = $run
