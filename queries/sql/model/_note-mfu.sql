-- _note-mfu: Why utilisation is not known, or what it rests on.
-- grain: one note
-- key: note
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
--   note: the sentence

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
SELECT CASE WHEN model IS NULL THEN format('the run has no model: give its configuration, prof ingest --run {} --model config.json', t.name) ELSE format('the run has no model {}: see prof query models --run {}', model, t.name) END AS note
FROM t WHERE NOT EXISTS (SELECT 1 FROM m)
UNION ALL
SELECT format('how many tokens the passes of {} had is not known: prof ingest --run {} --workload workload.json, or --prefill TOKENS --decode STEPS', string_agg(DISTINCT p.stage, ', ' ORDER BY p.stage), t.name)
FROM p CROSS JOIN t WHERE p.basis IS NULL AND EXISTS (SELECT 1 FROM m) GROUP BY t.name
UNION ALL
SELECT CASE n.kind WHEN 'left_out' THEN 'left out, so that utilisation is too low: ' ELSE 'not known: ' END || n.note FROM model_note n JOIN m ON m.model_id = n.model_id WHERE n.run_id = run AND n.kind <> 'assumed'
UNION ALL
SELECT CASE WHEN k.device = '(unknown)' OR k.device IS NULL THEN 'the capture does not name its GPU: give --peak (operations a second, e.g. 989.4T) and --bandwidth (bytes a second, e.g. 4.8T)'
    WHEN k.device_count > 1 THEN format('the run has GPUs of several kinds ({}): utilisation is not of one peak; give --device, or --peak and --bandwidth', k.device)
    WHEN k.known IS NULL THEN format('{} is not in device_peak: give --peak (operations a second, e.g. 989.4T) and --bandwidth (bytes a second, e.g. 4.8T), or add rows of your own', k.device)
    WHEN r.origin = 'neither' THEN format('the configuration says {} and the names of kernels {}: give --compute, and --dtype for the weights', r.configured, r.seen)
    WHEN r.precision IS NULL THEN 'the precision is not known, neither from the configuration nor from the names of kernels: give --compute'
    ELSE format('device_peak has no dense peak of {} for {}, only for {}; that of another precision is not taken: give --compute or --peak', k.device, r.precision, k.known) END
FROM k CROSS JOIN r JOIN t ON true WHERE k.peak_flop_per_s IS NULL
UNION ALL
SELECT format('{} processes took part in {}: utilisation is not known without --ranks shared (one batch over all of them, as in tensor parallelism) or --ranks own (each its own)', x.n, x.stage)
FROM ( -- as _pass-use
    SELECT y.stage, coalesce(sum(y.n) FILTER (y.pass_id IS NULL), 0) + coalesce(max(y.n) FILTER (y.pass_id IS NOT NULL), 0) AS n FROM (
        SELECT p.stage, c.pass_id, count(DISTINCT (p.source_id, p.pid)) AS n FROM p LEFT JOIN capture_source c ON c.run_id = run AND c.captured_source_id = p.source_id WHERE p.basis IS NOT NULL GROUP BY ALL
    ) y GROUP BY y.stage
) x WHERE x.n > 1 AND ranks IS NULL
UNION ALL
SELECT 'passes worked on several GPUs: what part of their operations is that of one is not known; leave --device out' FROM t
WHERE device IS NOT NULL AND EXISTS (SELECT 1 FROM range_device d JOIN p ON p.range_id = d.range_id WHERE d.run_id = run AND d.device_id <> device AND p.basis IS NOT NULL)
UNION ALL
SELECT format('{} of {} passes of {} have no work on a GPU: their time is not known', count(*) FILTER (p.gpu_span_ns IS NULL), count(*), p.stage) FROM p WHERE p.basis IS NOT NULL GROUP BY p.stage HAVING count(*) FILTER (p.gpu_span_ns IS NULL) > 0
UNION ALL
SELECT 'vision work lies outside the ranges of prefill: neither its time nor its operations are in the rows' FROM t
WHERE EXISTS (SELECT 1 FROM l WHERE l.scope = 'position') AND EXISTS (SELECT 1 FROM path_stage s WHERE s.run_id = run AND s.note IN ('vision', 'sam', 'clip', 'siglip', 'vit', 'projector') AND s.note_path_id = s.path_id AND s.stage IS DISTINCT FROM 'prefill')
UNION ALL
SELECT format('the configuration names no precision; the names of kernels say {}', r.precision) FROM r JOIN t ON true WHERE r.origin = 'kernels' AND EXISTS (SELECT 1 FROM m)
UNION ALL
SELECT format('weights are quantised, and the peak is that of {}: give --compute where matrices are multiplied in another precision', r.precision) FROM r
WHERE r.origin = 'configuration' AND EXISTS (SELECT 1 FROM l WHERE l.weight_bits IS NOT NULL)
UNION ALL
SELECT format('the time of prefill holds vision work ({}) whose operations are not counted, since the model {} has no vision part: its utilisation is too low by them', string_agg(DISTINCT s.note, ', ' ORDER BY s.note), m.name)
FROM path_stage s CROSS JOIN m WHERE s.run_id = run AND s.stage = 'prefill' AND s.note IS NOT NULL AND EXISTS (SELECT 1 FROM p WHERE p.stage = 'prefill' AND p.basis IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM l WHERE l.scope = 'position') GROUP BY m.name
UNION ALL
SELECT format('how many images the prompts have is not known: prof ingest --run {} --images K{}', t.name, CASE WHEN EXISTS (SELECT 1 FROM l WHERE l.view = 'crop') THEN ' --crops C (of each image beside its global view)' ELSE '' END) FROM t
WHERE EXISTS (SELECT 1 FROM p WHERE p.prompt_token_count > 0 AND p.image_count IS NULL) AND EXISTS (SELECT 1 FROM l WHERE l.scope = 'position')
UNION ALL
SELECT format('how many crops the images have beside their global view is not known: prof ingest --run {} --crops C, 0 for none', t.name) FROM t
WHERE EXISTS (SELECT 1 FROM p WHERE p.prompt_token_count > 0 AND p.image_count > 0 AND p.crop_count IS NULL) AND EXISTS (SELECT 1 FROM l WHERE l.view = 'crop')
UNION ALL
SELECT 'decode counts the keys and values of latent attention made anew from the whole context at every step, as transformers 5.17 does: most of it is no work of the model itself; --mla absorbed counts what serving engines do' FROM t
WHERE mla = 'expanded' AND EXISTS (SELECT 1 FROM l WHERE l.scope = 'latent') AND EXISTS (SELECT 1 FROM p WHERE p.decode_token_count > 0)
UNION ALL
SELECT 'the names of steps do not tell the lengths of their contexts: attention is counted for the least that it can be, and utilisation is at least what is shown' FROM t
WHERE EXISTS (SELECT 1 FROM p WHERE p.basis = 'annotation' AND (p.prompt_token_count > 0 AND p.prompt_pair_count IS NULL OR p.decode_token_count > 0 AND p.decode_key_count IS NULL))
UNION ALL
SELECT 'the model''s attention has windows, and the names of steps do not tell each context: its operations are not known' FROM t
WHERE EXISTS (SELECT 1 FROM p WHERE p.basis = 'annotation') AND EXISTS (SELECT 1 FROM l WHERE l.window_size IS NOT NULL)
