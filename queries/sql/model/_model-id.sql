-- _model-id: The model of a run that FLOPs are computed for: the selected one, else the default.
-- grain: one value
-- key: none
-- scalar: a constant that scans filter by
-- params:
--   run VARCHAR: the run
--   model BIGINT: model_id, or the model's number within the run; NULL: the default by model_size
-- columns:
--   model_id: the model; NULL when the run has none

(
    SELECT m.model_id
    FROM model_size m
    WHERE m.run_id = run
        AND CASE WHEN model IS NULL THEN m.is_counted ELSE _id_number(m.model_id) = _id_number(model) END
)
