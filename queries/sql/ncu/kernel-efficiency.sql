-- kernel-efficiency v2: How close matrix-multiplying kernels come to peak: FLOP counted by Nsight Compute / FLOP that the hardware could do
--     in the replay time.
-- grain: one kernel name, device and resource
-- key: kernel, device, resource
-- notes: flop peak match timelines ncu left-kernels
-- params:
--   run VARCHAR: the run
--   kernel VARCHAR = NULL: only kernels whose name contains this, ignoring case
--   stage VARCHAR = NULL: only launches in this stage; (none) for launches outside every stage
--   device BIGINT = NULL: only this GPU
--   fp16 BOOLEAN = false: include FP16 outside tensor cores, whose count includes constant moves by HFMA2
--   warmup BOOLEAN = false: shares of all the timeline, warm-up passes and what is outside stages too
--   {source}
-- columns:
--   kernel: kernel name as Nsight Compute spells it; kernels of the role gemm, and all others with tensor core operations
--   resource: precision: tensor_ and the input type; fp64 or fp32 for kernels without tensor core operations; NULL when no operations were
--     counted
--   launches: profiled launches
--   launch_flop: mean FLOP per launch, a multiply-add counts 2, padding included; non-tensor operations of tensor kernels (softmax,
--     epilogues) are excluded, roofline has them
--   duration_ns: mean duration of a launch in the replay
--   achieved_flop_per_s: FLOP of all launches / their replay time
--   measured_ratio: FLOP / FLOP that the device could do in that time at the clock of each launch; NULL when ncu did not measure the peak
--   device_peak_ratio: achieved_flop_per_s / device_peak_flop_per_s; over 1 where the clock is above the datasheet's
--   measured_peak_flop_per_s: dense peak at the clock of the launches, mean weighted by their time: ncu's peak per cycle x clock
--   device_peak_flop_per_s: dense peak from the table device_peak; NULL when the table lacks the device (see prof query peaks)
--   timeline_share_ratio: share of the timeline's kernel time in kernels of this name, any grid; NULL when the timeline has none of the
--     name
--   profiled_ratio: share of that time at a profiled grid and block; NULL when the timeline has no grids
--   family: kernel family by kernel_rule; NULL when no rule matches
--   role: what kernels of the family do; NULL when no rule matches
--   device: device name

WITH x AS (
    SELECT
        l.kernel_name_id,
        m.timeline_name_id,
        l.grid,
        l.block,
        coalesce(l.device, '(unknown)') AS device,
        l.family,
        l.role,
        f.resource,
        f.flop,
        l.duration_ns,
        f.peak_flop_per_s * l.duration_ns / 1e9 AS possible_flop
    FROM ncu_measure l
    JOIN kernel_name n ON n.run_id = l.run_id AND n.kernel_name_id = l.kernel_name_id
    JOIN ncu_match m ON m.run_id = l.run_id AND m.launch_id = l.launch_id
    LEFT JOIN ncu_flop f
        ON f.run_id = l.run_id AND f.launch_id = l.launch_id AND f.is_main AND (fp16 OR f.resource <> 'fp16')
    WHERE l.run_id = run
        AND _is_asked(m.kind, m.is_counted, source)
        AND (l.role = 'gemm' OR starts_with(f.resource, 'tensor_'))
        AND (kernel IS NULL OR contains(lower(n.name), lower(kernel)))
        AND (stage IS NULL OR coalesce(l.stage, '(none)') = stage)
        AND (device IS NULL OR l.device_id = device)
), g AS ( -- sums in the order of the numbers, as _mean
    SELECT
        x.kernel_name_id,
        x.timeline_name_id,
        x.device,
        x.family,
        x.role,
        x.resource,
        count(*) AS launches,
        _mean(x.flop) AS launch_flop,
        _mean(x.duration_ns) AS duration_ns,
        list_sum(list(x.duration_ns ORDER BY x.duration_ns)) AS replay_ns,
        list_sum(list(x.flop ORDER BY x.flop) FILTER (x.duration_ns > 0))
            / list_sum(list(x.duration_ns ORDER BY x.duration_ns) FILTER (x.flop > 0))
            * 1e9 AS flop_per_s,
        list_sum(list(x.possible_flop ORDER BY x.possible_flop)) AS possible_flop,
        list_sum(list(x.flop ORDER BY x.flop) FILTER (x.possible_flop > 0)) AS measured_flop,
        list_sum(list(x.duration_ns ORDER BY x.duration_ns) FILTER (x.possible_flop > 0)) AS measured_ns
    FROM x
    GROUP BY ALL
), w AS (
    SELECT t.kernel_name_id, t.grid, t.block, t.total_ns
    FROM ncu_timeline t
    WHERE t.run_id = run
        AND _is_asked(t.kind, t.is_counted, source)
        AND (stage IS NULL OR t.stage = stage)
        AND (device IS NULL OR t.device_id = device)
        AND _counts(t.scope, stage, warmup)
), t AS (
    SELECT
        w.kernel_name_id,
        sum(w.total_ns)::BIGINT AS total_ns,
        CASE
            WHEN count(w.grid) > 0
                THEN coalesce(
                    sum(w.total_ns) FILTER (
                        (w.kernel_name_id, w.grid, w.block) IN (
                            SELECT (x.timeline_name_id, x.grid, x.block)
                            FROM x
                        )
                    ),
                    0
                )::BIGINT
        END AS profiled_ns
    FROM w
    GROUP BY w.kernel_name_id
)
SELECT
    n.name AS kernel,
    g.resource,
    g.launches,
    g.launch_flop,
    g.duration_ns,
    g.flop_per_s AS achieved_flop_per_s,
    g.measured_flop / nullif(g.possible_flop, 0) AS measured_ratio,
    g.flop_per_s / nullif(r.flop_per_s, 0) AS device_peak_ratio,
    g.possible_flop / nullif(g.measured_ns, 0) * 1e9 AS measured_peak_flop_per_s,
    r.flop_per_s AS device_peak_flop_per_s,
    t.total_ns / nullif((SELECT sum(w.total_ns) FROM w), 0) AS timeline_share_ratio,
    t.profiled_ns / nullif(t.total_ns, 0) AS profiled_ratio,
    g.family,
    g.role,
    g.device
FROM g
JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = g.kernel_name_id
LEFT JOIN _device_roof r ON r.name = g.device AND r.resource = g.resource
LEFT JOIN t ON t.kernel_name_id = g.timeline_name_id
ORDER BY timeline_share_ratio DESC NULLS LAST, g.replay_ns DESC NULLS LAST, n.name, g.device, g.resource
