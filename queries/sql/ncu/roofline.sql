-- roofline v1: Roofline per profiled launch and precision: arithmetic intensity by DRAM traffic, and achieved / attainable FLOP/s.
-- grain: one profiled kernel launch and precision with FLOP in it
-- key: launch, resource
-- notes: flop ncu
-- params:
--   run VARCHAR: the run
--   kernel VARCHAR = NULL: only kernels whose name contains this, ignoring case
--   stage VARCHAR = NULL: only launches in this stage; (none) for launches outside every stage
--   launch BIGINT = NULL: only this launch
--   fp16 BOOLEAN = false: include FP16 outside tensor cores, whose count includes constant moves by HFMA2
-- columns:
--   launch: launch number in the run; in a run with one report, ncu's ID
--   kernel: kernel name as Nsight Compute spells it
--   resource: precision: fp64, fp32, fp16, or tensor_ and the input type
--   attained_ratio: achieved_flop_per_s / attainable_flop_per_s
--   side: memory when the intensity is left of the ridge, else compute
--   achieved_flop_per_s: FLOP/s achieved in the replay
--   attainable_flop_per_s: the lower of roof_flop_per_s and intensity x roof_bytes_per_s
--   intensity: arithmetic intensity: flop per byte of DRAM traffic; NULL without DRAM traffic
--   ridge: intensity at which the two roofs meet
--   achieved_bytes_per_s: DRAM bandwidth achieved in the replay
--   roof_flop_per_s: compute roof: dense peak in this precision; NULL when neither measured nor known
--   roof_bytes_per_s: memory roof: peak DRAM bandwidth; NULL when neither measured nor known
--   flop: floating-point operations, a multiply-add counts 2
--   dram_bytes: bytes read from and written to DRAM
--   basis: basis of the compute roof, then of the DRAM roof: measured (ncu's peaks at the clock of the launch) or device_peak (the table of
--     dense peaks)
--   stage: the stage; NULL outside every stage
--   grid: grid size in blocks, x * y * z
--   block: block size in threads, x * y * z
--   device: device name

WITH q AS (
    SELECT
        l.launch_id,
        n.name AS kernel,
        f.resource,
        f.flop,
        l.dram_bytes,
        f.flop / nullif(l.dram_bytes, 0) AS intensity,
        f.flop / nullif(l.duration_ns, 0) * 1e9 AS flop_per_s,
        l.dram_bytes_per_s,
        coalesce(f.peak_flop_per_s, pf.flop_per_s) AS roof_flop_per_s,
        coalesce(l.dram_peak_bytes_per_s, pd.bytes_per_s) AS roof_bytes_per_s,
        l.stage,
        l.grid,
        l.block,
        l.device,
        concat(
            CASE
                WHEN f.peak_flop_per_s IS NOT NULL THEN 'measured'
                WHEN pf.flop_per_s IS NOT NULL THEN 'device_peak'
                ELSE 'unknown'
            END,
            ', ',
            CASE
                WHEN l.dram_peak_bytes_per_s IS NOT NULL THEN 'measured'
                WHEN pd.bytes_per_s IS NOT NULL THEN 'device_peak'
                ELSE 'unknown'
            END
        ) AS basis
    FROM ncu_measure l
    JOIN kernel_name n ON n.run_id = l.run_id AND n.kernel_name_id = l.kernel_name_id
    JOIN ncu_flop f
        ON f.run_id = l.run_id AND f.launch_id = l.launch_id AND f.flop > 0 AND (fp16 OR f.resource <> 'fp16')
    LEFT JOIN _device_roof pf ON pf.name = l.device AND pf.resource = f.resource
    LEFT JOIN _device_roof pd ON pd.name = l.device AND pd.resource = 'dram'
    WHERE l.run_id = run
        AND (launch IS NULL OR _id_number(l.launch_id) - 1 = launch)
        AND (kernel IS NULL OR contains(lower(n.name), lower(kernel)))
        AND (stage IS NULL OR coalesce(l.stage, '(none)') = stage)
), a AS (
    SELECT
        q.launch_id,
        q.kernel,
        q.resource,
        q.flop,
        q.dram_bytes,
        q.intensity,
        q.flop_per_s,
        q.dram_bytes_per_s,
        q.roof_flop_per_s,
        q.roof_bytes_per_s,
        q.stage,
        q.grid,
        q.block,
        q.device,
        q.basis,
        q.roof_flop_per_s / nullif(q.roof_bytes_per_s, 0) AS ridge,
        -- without DRAM traffic only the compute roof bounds it
        CASE
            WHEN q.dram_bytes = 0 THEN q.roof_flop_per_s
            WHEN q.intensity IS NULL OR q.roof_flop_per_s IS NULL OR q.roof_bytes_per_s IS NULL THEN NULL
            ELSE least(q.roof_flop_per_s, q.intensity * q.roof_bytes_per_s)
        END AS attainable
    FROM q
)
SELECT
    _id_number(a.launch_id) - 1 AS launch,
    a.kernel,
    a.resource,
    a.flop_per_s / nullif(a.attainable, 0) AS attained_ratio,
    CASE
        WHEN a.intensity < a.ridge THEN 'memory'
        WHEN a.intensity >= a.ridge OR a.dram_bytes = 0 THEN 'compute'
    END AS side,
    a.flop_per_s AS achieved_flop_per_s,
    a.attainable AS attainable_flop_per_s,
    a.intensity,
    a.ridge,
    a.dram_bytes_per_s AS achieved_bytes_per_s,
    a.roof_flop_per_s,
    a.roof_bytes_per_s,
    a.flop,
    a.dram_bytes,
    a.basis,
    a.stage,
    a.grid,
    a.block,
    a.device
FROM a
ORDER BY a.launch_id, a.resource
