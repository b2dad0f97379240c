-- kernel-efficiency v1: How close kernels that multiply matrices come to the peak: operations that Nsight Compute counted, by the time of its replay, against what the hardware could do in that time.
-- grain: one kernel name, device and resource
-- key: kernel, device, resource
-- notes: flop peak match timelines ncu
-- params:
--   run VARCHAR: the run
--   kernel VARCHAR = NULL: only kernels whose name contains this, case ignored
--   stage VARCHAR = NULL: only launches in this stage; (none) for those outside every stage
--   device BIGINT = NULL: only this GPU
--   fp16 BOOLEAN = false: FP16 outside tensor cores too, of which moves of constants by HFMA2 cannot be told
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   kernel: name as ncu spells it; kernels of the role gemm, and all others with operations of tensor cores
--   resource: precision of the operations: tensor_ and the type of the inputs; of kernels without operations of tensor cores fp64 or fp32; NULL when none were counted
--   launches: profiled launches
--   launch_flop: mean operations of a launch, a multiply-add being 2, padding included; those beside tensor operations (softmax, epilogues) are left out, roofline has them
--   duration_ns: mean time of a launch in the replay
--   achieved_flop_per_s: operations of all launches / their time
--   measured_ratio: operations / what the device could do in that time at the clock of each launch; NULL when ncu did not measure the peak
--   device_peak_ratio: achieved_flop_per_s of device_peak_flop_per_s; over 1 where the clock is above that of the datasheet
--   measured_peak_flop_per_s: dense peak at the clock of the launches, mean by their time: what ncu gives a cycle, times the clock
--   device_peak_flop_per_s: dense peak by the table device_peak; NULL when the table does not have the device (see prof query peaks)
--   timeline_share_ratio: share of the timeline's kernel time that the kernel of this name takes, whatever its grid; NULL when the timeline has none of the name
--   profiled_ratio: share of that which ran with a grid and block that was profiled; NULL when the timeline does not tell grids
--   family: kernel family by kernel_rule; NULL when no rule matches
--   role: what the family does; NULL when no rule matches
--   device: the device's name

WITH d AS (
    SELECT dev.source_id, dev.device_id, min(dev.name) AS device FROM device dev WHERE dev.run_id = run GROUP BY ALL
), f AS (
    SELECT f.launch_id, f.resource, f.flop, f.peak_flop_per_s, starts_with(f.resource, 'tensor_') AS is_tensor, bool_or(is_tensor) OVER (PARTITION BY f.launch_id) AS has_tensor
    FROM _ncu_flop(run) f WHERE f.flop > 0 AND (fp16 OR f.resource <> 'fp16')
), x AS (
    SELECT l.kernel_name_id, l.kernel, l.timeline_name_id, l.grid, l.block, coalesce(d.device, '(unknown)') AS device, c.family, c.role, f.resource, f.flop, l.duration_ns,
        f.peak_flop_per_s * l.duration_ns / 1e9 AS possible_flop
    FROM _ncu_launch(run, source := source) l
    LEFT JOIN kernel_class c ON c.run_id = run AND c.kernel_name_id = l.kernel_name_id
    LEFT JOIN d ON d.source_id = l.source_id AND d.device_id = l.device_id
    LEFT JOIN f ON f.launch_id = l.launch_id AND f.is_tensor = f.has_tensor
    WHERE (c.role = 'gemm' OR f.is_tensor) AND (kernel IS NULL OR contains(lower(l.kernel), lower(kernel))) AND (stage IS NULL OR coalesce(l.stage, '(none)') = stage)
        AND (device IS NULL OR l.device_id = device)
), g AS ( -- sums in the order of the numbers, as _mean
    SELECT x.kernel, x.timeline_name_id, x.device, x.family, x.role, x.resource, count(*) AS launches, _mean(x.flop) AS launch_flop, _mean(x.duration_ns) AS duration_ns,
        list_sum(list(x.duration_ns ORDER BY x.duration_ns)) AS replay_ns,
        list_sum(list(x.flop ORDER BY x.flop) FILTER (x.duration_ns > 0)) / list_sum(list(x.duration_ns ORDER BY x.duration_ns) FILTER (x.flop > 0)) * 1e9 AS flop_per_s,
        list_sum(list(x.possible_flop ORDER BY x.possible_flop)) AS possible_flop,
        list_sum(list(x.flop ORDER BY x.flop) FILTER (x.possible_flop > 0)) AS measured_flop, list_sum(list(x.duration_ns ORDER BY x.duration_ns) FILTER (x.possible_flop > 0)) AS measured_ns
    FROM x GROUP BY ALL
), profiled AS (
    SELECT DISTINCT x.timeline_name_id, x.grid, x.block FROM x
), whole AS (
    SELECT sum(h.calls * h.duration_ns)::BIGINT AS total_ns
    FROM _kernel_histogram(run, device := device, source := source) h LEFT JOIN path_stage s ON s.run_id = run AND s.path_id = h.path_id
    WHERE stage IS NULL OR coalesce(s.stage, '(none)') = stage
), t AS (
    SELECT t.kernel_name_id, sum(t.total_ns)::BIGINT AS total_ns, CASE WHEN count(t.grid) > 0 THEN coalesce(sum(t.total_ns) FILTER (p.grid IS NOT NULL), 0)::BIGINT END AS profiled_ns
    FROM _timeline_grid(run, stage := stage, device := device, source := source) t
    LEFT JOIN profiled p ON p.timeline_name_id = t.kernel_name_id AND p.grid = t.grid AND p.block = t.block
    GROUP BY t.kernel_name_id
)
SELECT g.kernel, g.resource, g.launches, g.launch_flop, g.duration_ns, g.flop_per_s AS achieved_flop_per_s, g.measured_flop / nullif(g.possible_flop, 0) AS measured_ratio,
    g.flop_per_s / nullif(r.flop_per_s, 0) AS device_peak_ratio, g.possible_flop / nullif(g.measured_ns, 0) * 1e9 AS measured_peak_flop_per_s, r.flop_per_s AS device_peak_flop_per_s,
    t.total_ns / nullif(w.total_ns, 0) AS timeline_share_ratio, t.profiled_ns / nullif(t.total_ns, 0) AS profiled_ratio, g.family, g.role, g.device
FROM g CROSS JOIN whole w
LEFT JOIN _peak_name n ON n.name = g.device AND n.resource = g.resource
LEFT JOIN _device_roof r ON r.device = n.device AND r.resource = n.resource
LEFT JOIN t ON t.kernel_name_id = g.timeline_name_id
ORDER BY timeline_share_ratio DESC NULLS LAST, g.replay_ns DESC NULLS LAST, g.kernel, g.device, g.resource
