-- _stage-ratio: MFU and MBU of each stage of each run at today's peaks, from figures stored at ingest.
-- grain: one run and stage
-- key: run_id, stage
-- columns:
--   run_id: the run
--   stage: the stage
--   mfu_ratio: model FLOP / (peak x time); NULL when unknown, and where a pass is above the peak
--   mbu_ratio: bytes that must be read / (peak bandwidth x time); likewise

SELECT
    f.run_id,
    f.stage,
    CASE
        WHEN NOT coalesce(f.max_flop_per_s > f.flop_per_s OR f.max_bytes_per_s > f.bytes_per_s, false)
            THEN f.flop / (f.flop_per_s * f.device_ns / 1e9)
    END AS mfu_ratio,
    CASE
        WHEN NOT coalesce(f.max_flop_per_s > f.flop_per_s OR f.max_bytes_per_s > f.bytes_per_s, false)
            THEN f.moved_bytes / (f.bytes_per_s * f.device_ns / 1e9)
    END AS mbu_ratio
FROM (
    SELECT
        f.run_id,
        f.stage,
        f.flop,
        f.moved_bytes,
        f.device_ns,
        f.max_flop_per_s,
        f.max_bytes_per_s,
        max(CASE WHEN p.resource = 'dram' THEN p.bytes_per_s END) AS bytes_per_s,
        arg_max_null(p.flop_per_s, CASE WHEN p.resource <> 'dram' THEN p.resource END) AS flop_per_s
    FROM stage_figure f
    LEFT JOIN _device_roof p
        ON p.name = f.gpu
        AND (
            p.resource IN ('dram', 'tensor_' || f.precision)
            OR p.resource = f.precision AND f.precision IN ('fp32', 'fp64')
        )
    GROUP BY f.run_id, f.stage, f.flop, f.moved_bytes, f.device_ns, f.max_flop_per_s, f.max_bytes_per_s
) f
