-- _workload-entry v1: What the workload says of its passes, counted from the last one, as far as it is about the counted timeline.
-- grain: one pass of the workload, or one row for every pass
-- key: back_count
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   back_count: 1 for the last pass, 2 for the one before, ...; 0 for what holds for every pass, or where no pass is listed
--   prefill_count: tokens of each prompt; NULL when not said
--   decode_count: decode steps after it; NULL when not said
--   batch_count: sequences; NULL when no pass is said
--   image_count: images of each prompt; NULL when not said
--   crop_count: crops of each image; NULL when not said
--   later_count: decode steps of the passes after this one
--   warmup_count: passes to warm up at the beginning of the capture; NULL when not said, also where a file lists passes, since those of its warm-up are the ones that it does not list
--   is_warmup: whether the pass is one to warm up

-- Of several files about a timeline the latest is taken, and of several options the latest: what is given afterwards is better
-- known. What an option says goes before what a file does.
WITH counted AS ( -- as _timeline, which takes longer to plan
    SELECT s.run_id, min(s.kind) AS kind FROM source s WHERE s.kind IN ('nsys', 'torch') GROUP BY s.run_id
), facts AS (
    SELECT w.run_id, w.source_id, w.warmup_count, s.form = 'options' AS is_option
    FROM workload w JOIN source s ON s.run_id = w.run_id AND s.source_id = w.source_id LEFT JOIN counted k ON k.run_id = w.run_id
    WHERE w.run_id = _run_id_v1(run) AND (w.capture IS NULL OR w.capture = coalesce(source, k.kind))
), chosen AS (
    SELECT f.run_id, f.is_option, max(f.source_id) AS source_id, arg_max_null(f.warmup_count, f.source_id) AS warmup_count FROM facts f GROUP BY f.run_id, f.is_option
), o AS (
    SELECT p.prefill_count, p.decode_count, p.batch_count, p.image_count, p.crop_count, c.warmup_count
    FROM chosen c LEFT JOIN workload_pass p ON p.run_id = c.run_id AND p.source_id = c.source_id WHERE c.is_option
), e AS (
    SELECT p.pass_id, coalesce(o.prefill_count, p.prefill_count) AS prefill_count, coalesce(o.decode_count, p.decode_count) AS decode_count, coalesce(o.batch_count, p.batch_count, CASE WHEN p.source_id IS NOT NULL THEN 1 END) AS batch_count,
        coalesce(o.image_count, p.image_count) AS image_count, coalesce(o.crop_count, p.crop_count) AS crop_count, coalesce(o.warmup_count, CASE WHEN p.pass_id IS NULL THEN c.warmup_count END) AS warmup_count, coalesce(p.is_warmup, false) AS is_warmup
    FROM chosen c LEFT JOIN workload_pass p ON p.run_id = c.run_id AND p.source_id = c.source_id LEFT JOIN o ON true
    WHERE NOT c.is_option OR NOT EXISTS (SELECT 1 FROM chosen x WHERE NOT x.is_option)
)
SELECT CASE WHEN e.pass_id IS NULL THEN 0 ELSE row_number() OVER (ORDER BY e.pass_id DESC NULLS LAST) END AS back_count,
    e.prefill_count, e.decode_count, e.batch_count, e.image_count, e.crop_count,
    coalesce(sum(e.decode_count) OVER (ORDER BY e.pass_id DESC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)::BIGINT AS later_count, e.warmup_count, e.is_warmup
FROM e
