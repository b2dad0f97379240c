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
--   launch_flop: mean operations of a launch, a multiply-add being 2, padding included; those other than tensor operations (softmax, epilogues) are excluded; roofline has them
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

WITH x AS (
    SELECT l.kernel, m.timeline_name_id, l.grid, l.block, coalesce(l.device, '(unknown)') AS device, l.family, l.role, f.resource, f.flop, l.duration_ns, f.peak_flop_per_s * l.duration_ns / 1e9 AS possible_flop
    FROM ncu_measure l
    JOIN ncu_match m ON m.run_id = l.run_id AND m.launch_id = l.launch_id
    LEFT JOIN ncu_flop f ON f.run_id = l.run_id AND f.launch_id = l.launch_id AND f.is_main AND (fp16 OR f.resource <> 'fp16')
    WHERE l.run_id = run AND _is_asked(m.kind, m.is_counted, source) AND (l.role = 'gemm' OR starts_with(f.resource, 'tensor_')) AND (kernel IS NULL OR contains(lower(l.kernel), lower(kernel)))
        AND (stage IS NULL OR coalesce(l.stage, '(none)') = stage) AND (device IS NULL OR l.device_id = device)
), g AS ( -- sums in the order of the numbers, as _mean
    SELECT x.kernel, x.timeline_name_id, x.device, x.family, x.role, x.resource, count(*) AS launches, _mean(x.flop) AS launch_flop, _mean(x.duration_ns) AS duration_ns,
        list_sum(list(x.duration_ns ORDER BY x.duration_ns)) AS replay_ns,
        list_sum(list(x.flop ORDER BY x.flop) FILTER (x.duration_ns > 0)) / list_sum(list(x.duration_ns ORDER BY x.duration_ns) FILTER (x.flop > 0)) * 1e9 AS flop_per_s,
        list_sum(list(x.possible_flop ORDER BY x.possible_flop)) AS possible_flop,
        list_sum(list(x.flop ORDER BY x.flop) FILTER (x.possible_flop > 0)) AS measured_flop, list_sum(list(x.duration_ns ORDER BY x.duration_ns) FILTER (x.possible_flop > 0)) AS measured_ns
    FROM x GROUP BY ALL
), w AS (
    SELECT t.kernel_name_id, t.grid, t.block, t.total_ns
    FROM ncu_timeline t WHERE t.run_id = run AND _is_asked(t.kind, t.is_counted, source) AND (stage IS NULL OR t.stage = stage) AND (device IS NULL OR t.device_id = device)
), t AS (
    SELECT w.kernel_name_id, sum(w.total_ns)::BIGINT AS total_ns,
        CASE WHEN count(w.grid) > 0 THEN coalesce(sum(w.total_ns) FILTER ((w.kernel_name_id, w.grid, w.block) IN (SELECT (x.timeline_name_id, x.grid, x.block) FROM x)), 0)::BIGINT END AS profiled_ns
    FROM w GROUP BY w.kernel_name_id
)
SELECT g.kernel, g.resource, g.launches, g.launch_flop, g.duration_ns, g.flop_per_s AS achieved_flop_per_s, g.measured_flop / nullif(g.possible_flop, 0) AS measured_ratio,
    g.flop_per_s / nullif(r.flop_per_s, 0) AS device_peak_ratio, g.possible_flop / nullif(g.measured_ns, 0) * 1e9 AS measured_peak_flop_per_s, r.flop_per_s AS device_peak_flop_per_s,
    t.total_ns / nullif((SELECT sum(w.total_ns) FROM w), 0) AS timeline_share_ratio, t.profiled_ns / nullif(t.total_ns, 0) AS profiled_ratio, g.family, g.role, g.device
FROM g
LEFT JOIN _device_roof r ON r.name = g.device AND r.resource = g.resource
LEFT JOIN t ON t.kernel_name_id = g.timeline_name_id
ORDER BY timeline_share_ratio DESC NULLS LAST, g.replay_ns DESC NULLS LAST, g.kernel, g.device, g.resource
