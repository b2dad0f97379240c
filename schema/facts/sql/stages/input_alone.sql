-- input_alone: How long the stages of each input take without a profiler, by the clocks of prof's helper.
-- grain: one input and stage
-- key: input, stage
-- needs: stage_execution capture_input
-- columns:
--   input VARCHAR: id of the input, as in capture_input
--   stage VARCHAR: the stage, by stage_rule
--   clock VARCHAR: gpu (CUDA events, to the end of the stage's work on the GPU) or cpu (host clock: for work that is not waited for, the
--     time to launch it)
--   alone_count BIGINT: steady executions in recordings without a profiler
--   median_ns DOUBLE: their median time
--   mean_ns DOUBLE: their mean time
--   std_ns DOUBLE: sample standard deviation (n-1) of these; NULL for fewer than two
--   token_count BIGINT: tokens of all of them, of all sequences; NULL when unknown of any

-- An execution is left out where any recording has it as warm-up or cold, as in _stage_alone, and a stage where events do not see all its
-- work.
WITH t AS (
    SELECT
        t.tool,
        t.stage,
        t.member_id,
        t.place_id,
        t.input,
        t.is_warmup,
        try_cast(t.batch_count::HUGEINT * t.token_count AS BIGINT) AS tokens,
        t.cpu_ns,
        t.gpu_ns,
        bool_or(t.gpu_ns IS NOT NULL) OVER (PARTITION BY t.stage) AS is_gpu,
        bool_or(t.is_unseen) OVER (PARTITION BY t.stage) AS is_unseen
    FROM _stage_timed t
), warm AS (
    SELECT t.stage, t.member_id, t.place_id
    FROM t
    GROUP BY t.stage, t.member_id, t.place_id
    HAVING bool_or(t.is_warmup)
), a AS (
    SELECT
        t.stage,
        t.input,
        t.is_gpu,
        t.tokens,
        CASE WHEN t.is_gpu THEN t.gpu_ns ELSE t.cpu_ns END AS ns
    FROM t
    ANTI JOIN warm w ON w.stage = t.stage AND w.member_id = t.member_id AND w.place_id = t.place_id
    WHERE t.tool = 'none' AND NOT (t.is_gpu AND t.is_unseen)
)
SELECT
    a.input,
    a.stage,
    CASE WHEN a.is_gpu THEN 'gpu' ELSE 'cpu' END AS clock,
    count(*) AS alone_count,
    median(a.ns)::DOUBLE AS median_ns,
    list_avg(list(a.ns ORDER BY a.ns))::DOUBLE AS mean_ns,
    CASE WHEN count(*) > 1 THEN list_stddev_samp(list(a.ns ORDER BY a.ns)) END::DOUBLE AS std_ns,
    try_cast(CASE WHEN count(a.tokens) = count(*) THEN sum(a.tokens) END AS BIGINT) AS token_count
FROM a
WHERE a.ns IS NOT NULL
    AND a.input IN (
        SELECT i.input
        FROM capture_input i
        WHERE i.run_id = $run
        GROUP BY i.input
        HAVING count(DISTINCT coalesce(i.sha256, i.path)) = 1
    ) -- as in pass_input
GROUP BY a.input, a.stage, a.is_gpu
