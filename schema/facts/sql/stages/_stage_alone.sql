-- _stage_alone: Steady executions of stages without a profiler beside those under one: the same execution of the same process with the same
--     work.
-- grain: one execution of the workload and mode of profiled recordings, all recordings of each together
-- key: stage, tool, mode, member_id, place_id
-- needs: stage_execution
-- columns:
--   stage VARCHAR: the stage
--   tool VARCHAR: tool of the profiled recordings
--   mode VARCHAR: mode of the tool
--   member_id BIGINT: the process, as in _stage_timed
--   place_id BIGINT: number among the executions of the stage in the process
--   is_gpu BOOLEAN: whether times are of CUDA events; else of the host clock
--   is_alike BOOLEAN: whether all worked on as many sequences and tokens, and on the same input, as far as known
--   alone_ns BIGINT[]: times without a profiler
--   alone_repeat_ids INTEGER[]: the recording of each, by its number
--   profiled_ns BIGINT[]: times under it
--   profiled_repeat_ids INTEGER[]: the recording of each

-- An execution is left out where any recording has it as warm-up or cold, and where the timeline of one was of a window. The clock is the
-- GPU's as soon as the stage has one such time.
WITH t AS (
    SELECT
        t.pass_id,
        t.tool,
        t.mode,
        t.repeat_id,
        t.member_id,
        t.stage,
        t.place_id,
        t.is_warmup,
        t.batch_count,
        t.token_count,
        t.input,
        t.cpu_ns,
        t.gpu_ns,
        bool_or(t.gpu_ns IS NOT NULL) OVER (PARTITION BY t.stage) AS is_gpu
    FROM _stage_timed t
), warm AS (
    SELECT t.stage, t.member_id, t.place_id
    FROM t
    GROUP BY t.stage, t.member_id, t.place_id
    HAVING bool_or(t.is_warmup)
), s AS (
    SELECT
        t.tool,
        t.mode,
        t.repeat_id,
        t.member_id,
        t.stage,
        t.place_id,
        t.is_gpu,
        t.batch_count,
        t.token_count,
        t.input,
        CASE WHEN t.is_gpu THEN t.gpu_ns ELSE t.cpu_ns END AS ns
    FROM t
    ANTI JOIN warm w ON w.stage = t.stage AND w.member_id = t.member_id AND w.place_id = t.place_id
)
SELECT
    p.stage,
    p.tool,
    p.mode,
    p.member_id,
    p.place_id,
    a.is_gpu,
    p.least IS NOT DISTINCT FROM p.most
    AND a.least IS NOT DISTINCT FROM a.most
    AND p.least IS NOT DISTINCT FROM a.least AS is_alike,
    a.times AS alone_ns,
    a.repeats AS alone_repeat_ids,
    p.times AS profiled_ns,
    p.repeats AS profiled_repeat_ids
FROM (
    SELECT
        s.stage,
        s.tool,
        s.mode,
        s.member_id,
        s.place_id,
        list(s.ns ORDER BY s.ns, s.repeat_id) AS times,
        list(s.repeat_id ORDER BY s.ns, s.repeat_id) AS repeats,
        min((s.batch_count, s.token_count, s.input)) AS least,
        max((s.batch_count, s.token_count, s.input)) AS most
    FROM s
    WHERE s.tool <> 'none' AND s.ns IS NOT NULL
    GROUP BY ALL
) p
JOIN (
    SELECT
        s.stage,
        s.member_id,
        s.place_id,
        s.is_gpu,
        list(s.ns ORDER BY s.ns, s.repeat_id) AS times,
        list(s.repeat_id ORDER BY s.ns, s.repeat_id) AS repeats,
        min((s.batch_count, s.token_count, s.input)) AS least,
        max((s.batch_count, s.token_count, s.input)) AS most
    FROM s
    WHERE s.tool = 'none' AND s.ns IS NOT NULL
    GROUP BY ALL
) a ON a.stage = p.stage AND a.member_id = p.member_id AND a.place_id = p.place_id
