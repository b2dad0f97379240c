-- _model-id: The model of a run that FLOPs are counted of: the one asked for, else the one that is counted.
-- grain: one value
-- key: none
-- scalar: a constant that scans filter by
-- params:
--   run VARCHAR: the run
--   model BIGINT: its model_id, or the number of it within the run; NULL: by the rule of model_size
-- columns:
--   model_id: the model; NULL when the run has none

(SELECT m.model_id FROM model_size m WHERE m.run_id = run AND CASE WHEN model IS NULL THEN m.is_counted ELSE _id_number(m.model_id) = _id_number(model) END)
