-- _note-model: What was assumed or left out where a model's configuration was read, or why there is none.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
--   model BIGINT = NULL: model_id; by default as in _model-id
--   prefill BIGINT = NULL: as in flops
--   decode BIGINT = NULL: as in flops
-- columns:
--   note: the sentence

WITH m AS (
    SELECT _model_id(run, model) AS model_id
), w AS (
    SELECT count(DISTINCT p.prefill_count) AS prefills, count(DISTINCT p.decode_count) AS decodes FROM _workload_entry(run) p WHERE NOT p.is_warmup
)
SELECT CASE n.kind WHEN 'assumed' THEN 'assumed: ' WHEN 'left_out' THEN 'left out, figures are too small by it: ' ELSE 'not known: ' END || n.note AS note
FROM model_note n JOIN m ON m.model_id = n.model_id WHERE n.run_id = run
UNION ALL
SELECT 'the run has no model' || CASE WHEN model IS NULL THEN format(': give its configuration, prof ingest --run {} --model config.json', r.name) ELSE format(' {}: see prof query models', model) END
FROM m JOIN run r ON r.run_id = run WHERE m.model_id IS NULL
UNION ALL
SELECT 'how many tokens the passes have is ' || CASE WHEN w.prefills > 1 OR w.decodes > 1 THEN 'not the same for all of them' ELSE 'not known' END || ': give --prefill and --decode'
FROM w CROSS JOIN m WHERE m.model_id IS NOT NULL AND EXISTS (SELECT 1 FROM model x WHERE x.run_id = run AND x.model_id = m.model_id AND x.hidden_size IS NOT NULL)
    AND (prefill IS NULL AND w.prefills <> 1 OR decode IS NULL AND w.decodes <> 1)
