-- stage_figure: What a stage computed and read by the conventions that mfu has by default, and how long that took, added up over its measured passes: with the peaks of its GPU, the utilisation that trends show. A stage of which neither is known has no row.
-- grain: one stage
-- key: stage
-- needs: nvtx_range model_size
-- columns:
--   stage VARCHAR: the stage, or one of those that mfu shows too: model, vision
--   gpu VARCHAR: name of the GPU that its work ran on, or names, as the driver gives them; (unknown) where the capture does not say
--   precision VARCHAR: precision that matrices are multiplied in; NULL when nothing says
--   device_ns DOUBLE: time between first start and last end of a pass's device work, of each GPU, added up; NULL when a pass has none, or it is not known how processes shared the work
--   flop DOUBLE: operations of the model; NULL when not known
--   moved_bytes DOUBLE: bytes that must be read; NULL when not known
--   max_flop_per_s DOUBLE: operations a second and GPU of the pass that has most: more than the peak is an error in what was given
--   max_bytes_per_s DOUBLE: bytes a second and GPU of the pass that has most

WITH m AS (
    SELECT m.model_id, m.is_unknown, coalesce(m.dtype, k.precision) AS dtype, coalesce(m.dtype IN ('fp32', 'bf16', 'fp16') AND k.precision IN ('fp32', 'bf16', 'fp16') AND m.dtype <> k.precision, false) AS is_disputed
    FROM model_size m LEFT JOIN kernel_precision k ON k.run_id = m.run_id AND k.is_counted
    WHERE m.run_id = $run AND m.is_counted
), b AS (
    SELECT m.model_id, CASE WHEN NOT m.is_disputed THEN m.dtype END AS precision, CASE WHEN NOT m.is_disputed THEN _dtype_bits(m.dtype) / 8.0::DOUBLE END AS bytes, CASE WHEN NOT m.is_unknown THEN 1 END AS is_known FROM m
), t AS (
    SELECT t.stage, t.part_of, t.range_id, t.gpu, t.device_id, nullif(t.gpu_span_ns, 0) * CASE WHEN t.process_count = 1 THEN t.device_count END AS device_ns
    FROM pass_time t JOIN timeline l ON l.run_id = t.run_id AND l.source_id = t.source_id AND l.is_counted
    WHERE t.run_id = $run
), u AS (
    SELECT t.stage, t.part_of, t.device_ns, b.precision, c.base_flop + c.last_head_flop + c.full_flop + c.expanded_flop AS flop, (b.bytes * c.plain_count + c.packed_bytes) * b.is_known + b.bytes * c.cached_count AS moved_bytes
    FROM t LEFT JOIN b ON true LEFT JOIN pass_cost c ON c.run_id = $run AND c.stage = t.stage AND c.range_id = t.range_id AND c.model_id = b.model_id
    WHERE t.device_id IS NULL
)
SELECT u.stage, (SELECT string_agg(DISTINCT t.gpu, ', ' ORDER BY t.gpu) FROM t) AS gpu, u.precision, CASE WHEN count(u.device_ns) = count(*) THEN sum(u.device_ns) END AS device_ns,
    CASE WHEN count(u.flop) = count(*) THEN sum(u.flop) END AS flop, CASE WHEN count(u.moved_bytes) = count(*) THEN list_sum(list(u.moved_bytes ORDER BY u.moved_bytes)) END AS moved_bytes,
    max(u.flop / (u.device_ns / 1e9)) AS max_flop_per_s, max(u.moved_bytes / (u.device_ns / 1e9)) AS max_bytes_per_s
FROM u
GROUP BY u.stage, u.part_of, u.precision
HAVING count(u.flop) = count(*) OR count(u.moved_bytes) = count(*)
