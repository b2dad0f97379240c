-- _model-id: The model of a run that FLOPs are counted of: the one asked for, else one given as a configuration of its own, else one from the facts of the workload.
-- grain: one value
-- key: none
-- scalar: a constant that scans filter by
-- params:
--   run VARCHAR: the run
--   model BIGINT: its model_id, or the number of it within the run; NULL: by the rule
-- columns:
--   model_id: the model; NULL when the run has none

(SELECT arg_min(m.model_id, (CASE WHEN s.kind = 'model' THEN 0 ELSE 1 END, CASE WHEN m.hidden_size IS NULL THEN 1 ELSE 0 END, m.model_id))
    FROM model m JOIN source s ON s.run_id = m.run_id AND s.source_id = m.source_id
    WHERE m.run_id = run AND (model IS NULL OR _id_number(m.model_id) = _id_number(model)))
