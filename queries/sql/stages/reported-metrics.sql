-- reported-metrics v1: Figures that another tool reported of a run (metrics.json, static_compute.json, torchinfo, kernels.md, trees of
--     Proton), with what prof computes of the same where it does. prof computes nothing from them.
-- grain: one figure of one file
-- key: source_id, row_number
-- params:
--   run VARCHAR: the run
--   top BIGINT = 0: rows at most; 0 for all
-- columns:
--   scope: what it is about: run, stage, model, kernel, range or point (of a sweep)
--   subject: the stage, kernel, range or point; NULL for the run and the whole model
--   metric: the figure, as the file calls it
--   unit: unit of value, std and computed: ns, count, bytes, ratio, flop, mac (multiply-add), flop_per_s or tokens_per_s; NULL when the
--     file does not say
--   value: the figure as it was reported, in base units; of several passes their mean; NULL when the file has null
--   std: standard deviation over the passes, as the tool computed it; NULL when the file has none
--   call_count: calls that the figure sums; NULL when the file has none
--   computed: what prof computes of the same: a stage's time by GPU span, MFU as in mfu, parameters as in models, the peak of one GPU; NULL
--     when it computes no such figure, or not of this run
--   path: the file
--   source_id: the source
--   row_number: place in the file, from 1

WITH u AS (
    SELECT
        u.stage,
        u.time_ns::DOUBLE / u.passes AS time_ns,
        u.flop::DOUBLE / (u.peak_flop_per_s * u.device_ns / 1e9) AS mfu_ratio,
        u.peak_flop_per_s
    FROM _stage_use(run) u
)
SELECT
    v.scope,
    v.subject,
    v.metric,
    v.unit,
    v.value,
    v.std,
    v.call_count,
    CASE
        WHEN v.scope IN ('stage', 'run') AND v.metric IN ('time_ns', 'prefill_ns', 'decode_ns')
            THEN (
                SELECT u.time_ns
                FROM u
                WHERE u.stage = CASE v.scope WHEN 'stage' THEN v.subject ELSE replace(v.metric, '_ns', '') END
            )
        WHEN v.metric = 'mfu_ratio' THEN (SELECT u.mfu_ratio FROM u WHERE u.stage = coalesce(v.subject, 'model'))
        WHEN v.metric = 'peak_flop_per_s' THEN (SELECT max(u.peak_flop_per_s) FROM u)
        WHEN v.scope = 'model' AND v.metric = 'parameter_count'
            THEN (
                SELECT max(m.parameter_count)::DOUBLE
                FROM model_size m
                WHERE m.run_id = run AND m.is_counted
            )
    END AS computed,
    s.path,
    v.source_id,
    v.row_number
FROM reported_value v JOIN source s ON s.run_id = v.run_id AND s.source_id = v.source_id
WHERE v.run_id = run
QUALIFY top = 0 OR row_number() OVER (ORDER BY v.source_id, v.row_number) <= top
ORDER BY v.source_id, v.row_number
