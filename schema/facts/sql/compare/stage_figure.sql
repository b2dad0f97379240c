-- stage_figure: FLOP, bytes and time of the median measured pass of each stage, by mfu's default conventions: with the GPU's peaks
--     they give the utilisation that trends show. A stage with neither FLOP nor bytes known has no row.
-- grain: one stage
-- key: stage
-- needs: pass_time model_size
-- columns:
--   stage VARCHAR: the stage, or one that mfu adds: model, vision
--   gpu VARCHAR: GPU name, or names, as the driver gives it; (unknown) when the capture has none
--   precision VARCHAR: precision of matrix products; NULL when unknown
--   device_ns DOUBLE: GPU span of the pass x its GPUs; NULL when a pass has none, or when it is unknown how processes shared the work
--   flop DOUBLE: model FLOP; NULL when unknown of a pass
--   moved_bytes DOUBLE: bytes that must be read; NULL when unknown of a pass
--   max_flop_per_s DOUBLE: highest FLOP/s per GPU of a pass: above the peak, an input is wrong
--   max_bytes_per_s DOUBLE: highest bytes/s per GPU of a pass

WITH m AS (
    SELECT
        m.model_id,
        m.is_unknown,
        coalesce(m.dtype, k.precision) AS dtype,
        coalesce(
            m.dtype IN ('fp32', 'bf16', 'fp16') AND k.precision IN ('fp32', 'bf16', 'fp16') AND m.dtype <> k.precision,
            false
        ) AS is_disputed
    FROM model_size m LEFT JOIN kernel_precision k ON k.run_id = m.run_id AND k.is_counted
    WHERE m.run_id = $run AND m.is_counted
), b AS (
    SELECT
        m.model_id,
        CASE WHEN NOT m.is_disputed THEN m.dtype END AS precision,
        CASE WHEN NOT m.is_disputed THEN _dtype_bits(m.dtype) / 8.0::DOUBLE END AS bytes,
        CASE WHEN NOT m.is_unknown THEN 1 END AS is_known
    FROM m
), t AS (
    SELECT
        t.stage,
        t.part_of,
        t.range_id,
        t.gpu,
        t.device_id,
        nullif(t.gpu_span_ns, 0)
            * CASE t.is_shared WHEN true THEN t.shared_device_count WHEN false THEN t.device_count END AS device_ns
    FROM pass_time t
    JOIN timeline l ON l.run_id = t.run_id AND l.source_id = t.source_id AND l.is_counted
    WHERE t.run_id = $run
), u AS (
    SELECT
        t.stage,
        t.part_of,
        t.range_id,
        t.device_ns,
        b.precision,
        c.base_flop + c.last_head_flop + c.full_flop + c.expanded_flop AS flop,
        (b.bytes * c.plain_count + c.packed_bytes) * b.is_known + b.bytes * c.cached_count AS moved_bytes
    FROM t
    LEFT JOIN b ON true
    LEFT JOIN pass_cost c
        ON c.run_id = $run AND c.stage = t.stage AND c.range_id = t.range_id AND c.model_id = b.model_id
    WHERE t.device_id IS NULL
)
SELECT
    u.stage,
    (SELECT string_agg(DISTINCT t.gpu, ', ' ORDER BY t.gpu) FROM t) AS gpu,
    u.precision,
    CASE WHEN count(u.device_ns) = count(*) THEN median(u.device_ns) END AS device_ns,
    CASE WHEN count(u.flop) = count(*) THEN _median_pass(u.flop, coalesce(u.device_ns, 0), u.range_id) END AS flop,
    CASE
        WHEN count(u.moved_bytes) = count(*)
            THEN _median_pass(u.moved_bytes, coalesce(u.device_ns, 0), u.range_id)
    END AS moved_bytes,
    max(u.flop / (u.device_ns / 1e9)) AS max_flop_per_s,
    max(u.moved_bytes / (u.device_ns / 1e9)) AS max_bytes_per_s
FROM u
GROUP BY u.stage, u.part_of, u.precision
HAVING count(u.flop) = count(*) OR count(u.moved_bytes) = count(*)
