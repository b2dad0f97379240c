-- _caveat-layers: Why passes cannot be divided into layers.
-- grain: one caveat, as in the table caveat
-- key: kind, stage, subject
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: as in layers
--   device BIGINT = NULL: as in layers
--   {source}
-- columns:
--   kind: what it says
--   stage: the stage
--   subject: why it cannot be divided, as in layers

SELECT DISTINCT
    'no-layers' AS kind,
    p.stage,
    p.unknown AS subject
FROM layer_part p
WHERE p.run_id = run
    AND p.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
    AND p.unknown IS NOT NULL
    AND (stage IS NULL OR p.stage = stage)
    AND (device IS NULL OR p.device_id = device)
