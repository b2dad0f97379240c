-- _digest-use v1: Rows of the table stage_figure that follow from the model: what mfu tells of each stage where it finds no fault.
-- grain: one stage and metric whose value is known
-- key: stage, metric
-- params:
--   run VARCHAR: id of the run; a name gives no rows, since looking one up takes longer to plan than the rest
-- columns:
--   run_id: the run
--   stage: the stage, or model or vision, as in mfu
--   metric: mfu_ratio or mbu_ratio
--   value: the utilisation over all measured passes

SELECT try_cast(run AS UUID) AS run_id, u.stage, u.metric, u.value
FROM (
    SELECT m.stage, unnest(['mfu_ratio', 'mbu_ratio']) AS metric, unnest([m.mfu_ratio, m.mbu_ratio]) AS value
    FROM mfu_v2(run) m
    WHERE m.fault IS NULL
) u
WHERE u.value IS NOT NULL
