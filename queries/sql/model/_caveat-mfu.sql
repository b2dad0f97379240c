-- _caveat-mfu: Why utilisation is not known, or what it rests on.
-- grain: one caveat, as in the table caveat
-- key: kind, stage, subject, detail
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: as in mfu
--   source VARCHAR = NULL: as in mfu
--   model BIGINT = NULL: as in mfu
--   mla VARCHAR = 'expanded': as in mfu
--   compute VARCHAR = NULL: as in mfu
--   dtype VARCHAR = NULL: as in mfu
--   ranks VARCHAR = NULL: as in mfu
--   peak DOUBLE = NULL: as in mfu
--   bandwidth DOUBLE = NULL: as in mfu
-- columns:
--   kind: what it says
--   stage: the stage it is about
--   subject: what it is about
--   object: what else it names
--   detail: what else it says
--   item_count: how many
--   of_count: of how many

WITH r AS (
    SELECT r.precision, r.origin, r.configured, r.seen FROM _run_precision(run, model := model, compute := compute, dtype := dtype, source := source) r
), k AS (
    SELECT k.device, k.device_count, k.resource, k.peak_flop_per_s, k.peak_bytes_per_s, k.known FROM _peak(run, device := device, compute := (SELECT r.precision FROM r), peak := peak, bandwidth := bandwidth, source := source) k
), m AS (
    SELECT m.model_id, m.name, m.hidden_size, m.dtype FROM model m WHERE m.run_id = run AND m.model_id = _model_id(run, model)
), l AS (
    SELECT l.part, l.view, l.window_size, l.weight_bits, l.scope FROM model_layer l JOIN m ON m.model_id = l.model_id WHERE l.run_id = run
), p AS (
    SELECT p.stage, p.source_id, p.pid, p.range_id, p.gpu_span_ns, p.basis, p.image_count, p.crop_count, p.prompt_token_count, p.decode_token_count, p.prompt_pair_count, p.decode_key_count FROM _stage_pass(run, device := device, source := source) p WHERE NOT p.is_warmup
), t AS (
    SELECT r.name FROM run r WHERE r.run_id = run AND EXISTS (SELECT 1 FROM p)
)
SELECT CASE WHEN model IS NULL THEN 'no-model' ELSE 'no-such-model' END AS kind, t.name AS subject, model::VARCHAR AS detail FROM t WHERE NOT EXISTS (SELECT 1 FROM m)
UNION ALL BY NAME
SELECT 'stage-without-tokens' AS kind, p.stage, t.name AS object FROM p CROSS JOIN t WHERE p.basis IS NULL AND EXISTS (SELECT 1 FROM m) GROUP BY p.stage, t.name
UNION ALL BY NAME
SELECT CASE n.kind WHEN 'left_out' THEN 'use-left-out' ELSE 'model-unknown' END AS kind, n.note AS detail FROM model_note n JOIN m ON m.model_id = n.model_id WHERE n.run_id = run AND n.kind <> 'assumed'
UNION ALL BY NAME
SELECT CASE WHEN k.device = '(unknown)' OR k.device IS NULL THEN 'use-of-unnamed-gpu' WHEN k.device_count > 1 THEN 'use-of-several-gpus' WHEN k.known IS NULL THEN 'use-without-peak'
    WHEN r.origin = 'neither' THEN 'precisions-disagree' WHEN r.precision IS NULL THEN 'precision-unknown' ELSE 'no-peak-of-precision' END AS kind,
    k.device AS subject, CASE WHEN r.origin = 'neither' THEN r.configured ELSE r.precision END AS object, CASE WHEN r.origin = 'neither' THEN r.seen ELSE k.known END AS detail
FROM k CROSS JOIN r JOIN t ON true WHERE k.peak_flop_per_s IS NULL
UNION ALL BY NAME
SELECT 'several-processes' AS kind, x.stage, x.n AS item_count
FROM ( -- as _pass-use
    SELECT y.stage, coalesce(sum(y.n) FILTER (y.pass_id IS NULL), 0)::BIGINT + coalesce(max(y.n) FILTER (y.pass_id IS NOT NULL), 0) AS n FROM (
        SELECT p.stage, c.pass_id, count(DISTINCT (p.source_id, p.pid)) AS n FROM p LEFT JOIN capture_source c ON c.run_id = run AND c.captured_source_id = p.source_id WHERE p.basis IS NOT NULL GROUP BY ALL
    ) y GROUP BY y.stage
) x WHERE x.n > 1 AND ranks IS NULL
UNION ALL BY NAME
SELECT 'passes-on-several-gpus' AS kind FROM t
WHERE device IS NOT NULL AND EXISTS (SELECT 1 FROM range_device d JOIN p ON p.range_id = d.range_id WHERE d.run_id = run AND d.device_id <> device AND p.basis IS NOT NULL)
UNION ALL BY NAME
SELECT 'passes-without-work' AS kind, p.stage, count(*) FILTER (p.gpu_span_ns IS NULL) AS item_count, count(*) AS of_count FROM p WHERE p.basis IS NOT NULL GROUP BY p.stage HAVING count(*) FILTER (p.gpu_span_ns IS NULL) > 0
UNION ALL BY NAME
SELECT 'vision-outside-prefill' AS kind FROM t
WHERE EXISTS (SELECT 1 FROM l WHERE l.scope = 'position') AND EXISTS (SELECT 1 FROM path_stage s WHERE s.run_id = run AND s.note IN ('vision', 'sam', 'clip', 'siglip', 'vit', 'projector') AND s.note_path_id = s.path_id AND s.stage IS DISTINCT FROM 'prefill')
UNION ALL BY NAME
SELECT 'precision-of-kernels' AS kind, r.precision AS object FROM r JOIN t ON true WHERE r.origin = 'kernels' AND EXISTS (SELECT 1 FROM m)
UNION ALL BY NAME
SELECT 'quantised-weights' AS kind, r.precision AS object FROM r WHERE r.origin = 'configuration' AND EXISTS (SELECT 1 FROM l WHERE l.weight_bits IS NOT NULL)
UNION ALL BY NAME
SELECT 'vision-not-in-model' AS kind, m.name AS subject, s.note AS object
FROM path_stage s CROSS JOIN m WHERE s.run_id = run AND s.stage = 'prefill' AND s.note IS NOT NULL AND EXISTS (SELECT 1 FROM p WHERE p.stage = 'prefill' AND p.basis IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM l WHERE l.scope = 'position') GROUP BY m.name, s.note
UNION ALL BY NAME
SELECT CASE WHEN EXISTS (SELECT 1 FROM l WHERE l.view = 'crop') THEN 'images-and-crops-unknown' ELSE 'images-unknown' END AS kind, t.name AS subject FROM t
WHERE EXISTS (SELECT 1 FROM p WHERE p.prompt_token_count > 0 AND p.image_count IS NULL) AND EXISTS (SELECT 1 FROM l WHERE l.scope = 'position')
UNION ALL BY NAME
SELECT 'crops-unknown' AS kind, t.name AS subject FROM t WHERE EXISTS (SELECT 1 FROM p WHERE p.prompt_token_count > 0 AND p.image_count > 0 AND p.crop_count IS NULL) AND EXISTS (SELECT 1 FROM l WHERE l.view = 'crop')
UNION ALL BY NAME
SELECT 'latent-cache-expanded' AS kind FROM t WHERE mla = 'expanded' AND EXISTS (SELECT 1 FROM l WHERE l.scope = 'latent') AND EXISTS (SELECT 1 FROM p WHERE p.decode_token_count > 0)
UNION ALL BY NAME
SELECT 'contexts-unknown' AS kind FROM t
WHERE EXISTS (SELECT 1 FROM p WHERE p.basis = 'annotation' AND (p.prompt_token_count > 0 AND p.prompt_pair_count IS NULL OR p.decode_token_count > 0 AND p.decode_key_count IS NULL))
UNION ALL BY NAME
SELECT 'windows-unknown' AS kind FROM t WHERE EXISTS (SELECT 1 FROM p WHERE p.basis = 'annotation') AND EXISTS (SELECT 1 FROM l WHERE l.window_size IS NOT NULL)
