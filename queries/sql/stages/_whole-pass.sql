-- _whole-pass: Each measured pass with all processes that do it together: passes of the same number in a repeat of the workload. It lasts
--     until the last of them is done.
-- grain: one pass of a stage
-- key: run_id, stage, repeat_id, pass_id
-- params:
--   runs UUID[] = NULL: only these runs
--   device BIGINT = NULL: only work on this GPU, and only passes with work on it
--   {source}
-- columns:
--   run_id: the run
--   stage: the stage, by stage_rule
--   repeat_id: repeat of the workload, from 1
--   pass_id: pass number within the stage and process, from 1
--   range_id: its range in the process that takes longest: of which tokens and the time without a profiler are
--   source_id: source of that range
--   device_count: GPUs that run its work, of each process
--   cpu_ns: CPU time of the process that takes longest; NULL when one never ended
--   lost_count: as in _stage-pass; 0 when all device work of a process is known
--   gpu_span_ns: GPU span of the process that takes longest, of those whose work is known; NULL without one
--   gpu_busy_ns: GPU busy time, summed over GPUs; NULL when work of a process is lost, like the next five
--   gpu_sum_ns: sum of the durations of its device work
--   kernel_sum_ns: sum of its kernel durations
--   kernel_count: number of kernels; NULL where graphs were traced as a whole, without their kernels
--   memop_count: copies and fills
--   graph_count: graph replays traced as a whole
--   prompt_token_count: tokens of all prompts
--   decode_count: generating sequences
--   decode_token_count: decoded tokens, all sequences together
--   sequence_count: sequences it processed; NULL when unknown
--   token_steps: steps that make a token each for every sequence, by _token-steps; NULL when unknown

WITH p AS (
    SELECT
        p.run_id,
        p.stage,
        p.repeat_id,
        p.pass_id,
        p.range_id,
        p.source_id,
        p.cpu_ns,
        p.lost_count,
        CASE WHEN device IS NULL THEN p.gpu_span_ns WHEN p.lost_count = 0 THEN d.last_end_ns - d.first_start_ns END AS gpu_span_ns,
        CASE WHEN device IS NULL THEN p.gpu_busy_ns ELSE d.busy_ns END AS gpu_busy_ns,
        CASE WHEN device IS NULL THEN p.gpu_sum_ns ELSE d.sum_ns END AS gpu_sum_ns,
        CASE WHEN device IS NULL THEN p.kernel_sum_ns ELSE d.kernel_sum_ns END AS kernel_sum_ns,
        CASE WHEN device IS NULL THEN p.kernel_count ELSE d.kernel_count END AS kernel_count,
        CASE WHEN device IS NULL THEN p.memop_count ELSE d.memop_count END AS memop_count,
        CASE WHEN device IS NULL THEN p.graph_count ELSE d.graph_count END AS graph_count,
        CASE WHEN device IS NULL THEN p.device_count ELSE 1 END AS device_count,
        p.prompt_token_count,
        p.decode_count,
        p.decode_token_count,
        p.sequence_count,
        _token_steps(p.step_count, p.prompt_count, p.decode_count, p.decode_token_count) AS token_steps,
        row_number() OVER (
            PARTITION BY p.run_id, p.stage, p.repeat_id, p.pass_id
            ORDER BY
                gpu_span_ns DESC NULLS LAST,
                p.cpu_ns DESC NULLS LAST,
                p.range_id
        ) AS place
    FROM stage_pass p
    LEFT JOIN timeline t ON t.run_id = p.run_id AND t.source_id = p.source_id
    LEFT JOIN range_device d ON d.run_id = p.run_id AND d.range_id = p.range_id AND d.device_id = device
    WHERE (runs IS NULL OR p.run_id IN (SELECT unnest(runs)))
        AND _is_asked(t.kind, p.is_counted, source)
        AND NOT p.is_warmup
        AND (device IS NULL OR d.range_id IS NOT NULL)
)
SELECT
    p.run_id,
    p.stage,
    p.repeat_id,
    p.pass_id,
    any_value(p.range_id) FILTER (p.place = 1) AS range_id,
    any_value(p.source_id) FILTER (p.place = 1) AS source_id,
    sum(p.device_count)::BIGINT AS device_count,
    CASE WHEN count(p.cpu_ns) = count(*) THEN max(p.cpu_ns) END AS cpu_ns,
    min(p.lost_count) AS lost_count,
    max(p.gpu_span_ns) AS gpu_span_ns,
    CASE WHEN max(p.lost_count) = 0 THEN sum(p.gpu_busy_ns)::BIGINT END AS gpu_busy_ns,
    CASE WHEN max(p.lost_count) = 0 THEN sum(p.gpu_sum_ns)::BIGINT END AS gpu_sum_ns,
    CASE WHEN max(p.lost_count) = 0 THEN sum(p.kernel_sum_ns)::BIGINT END AS kernel_sum_ns,
    CASE WHEN max(p.lost_count) = 0 AND sum(p.graph_count) = 0 THEN sum(p.kernel_count)::BIGINT END AS kernel_count,
    CASE WHEN max(p.lost_count) = 0 THEN sum(p.memop_count)::BIGINT END AS memop_count,
    CASE WHEN max(p.lost_count) = 0 THEN sum(p.graph_count)::BIGINT END AS graph_count,
    any_value(p.prompt_token_count) FILTER (p.place = 1) AS prompt_token_count,
    any_value(p.decode_count) FILTER (p.place = 1) AS decode_count,
    any_value(p.decode_token_count) FILTER (p.place = 1) AS decode_token_count,
    any_value(p.sequence_count) FILTER (p.place = 1) AS sequence_count,
    any_value(p.token_steps) FILTER (p.place = 1) AS token_steps
FROM p
GROUP BY p.run_id, p.stage, p.repeat_id, p.pass_id
