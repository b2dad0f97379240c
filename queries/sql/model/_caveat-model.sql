-- _caveat-model: What was assumed or excluded when the model configuration was read, or why there is no model.
-- grain: one caveat, as in the table caveat
-- key: kind, detail
-- params:
--   run VARCHAR: the run
--   model BIGINT = NULL: model_id; default: as in _model-id
--   prefill BIGINT = NULL: as in flops
--   decode BIGINT = NULL: as in flops
-- columns:
--   kind: what it says
--   subject: what it is about
--   detail: what else it says

WITH m AS (
    SELECT _model_id(run, model) AS model_id
), w AS (
    SELECT
        count(DISTINCT p.prefill_count) AS prefills,
        count(DISTINCT p.decode_count) AS decodes
    FROM _workload_entry(run) p
    WHERE NOT p.is_warmup
)
SELECT
    CASE n.kind
        WHEN 'assumed' THEN 'model-assumed'
        WHEN 'left_out' THEN 'model-left-out'
        ELSE 'model-unknown'
    END AS kind,
    n.note AS detail
FROM model_note n JOIN m ON m.model_id = n.model_id
WHERE n.run_id = run
UNION ALL BY NAME
SELECT
    CASE WHEN model IS NULL THEN 'no-model' ELSE 'no-such-model' END AS kind,
    r.name AS subject,
    model::VARCHAR AS detail
FROM m JOIN run r ON r.run_id = run
WHERE m.model_id IS NULL
UNION ALL BY NAME
SELECT CASE WHEN w.prefills > 1 OR w.decodes > 1 THEN 'tokens-differ' ELSE 'tokens-unknown' END AS kind
FROM w CROSS JOIN m
WHERE EXISTS (
        SELECT 1
        FROM model x
        WHERE x.run_id = run AND x.model_id = m.model_id AND x.hidden_size IS NOT NULL
    )
    AND (prefill IS NULL AND w.prefills <> 1 OR decode IS NULL AND w.decodes <> 1)
