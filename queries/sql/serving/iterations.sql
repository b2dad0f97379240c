-- iterations v1: Iterations of an engine in time order, with requests, tokens, context, how they were launched and the time before each:
--     forward passes of prefill, decode or both.
-- grain: one iteration on one GPU
-- key: source_id, pid, device, nth
-- notes: stage timelines workload launch range
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: maximum rows; 0 for all
--   stage VARCHAR = NULL: only iterations of this stage: prefill, decode, mixed, ...
--   device BIGINT = NULL: only this GPU
--   {source}
-- columns:
--   nth: iteration number within the source, process and GPU, warm-up included, from 1
--   stage: stage, by stage_rule: prefill, decode, mixed (both), ...
--   prompt_count: sequences whose prompts it processes; NULL when unknown, like all counts of sequences and tokens
--   prompt_token_count: their tokens in this iteration
--   decode_count: generating sequences
--   decode_token_count: their tokens in this iteration: more than sequences where tokens are speculated
--   time_ns: start of its first device work to that of the next iteration in the same pass, of a prefill to that of the decode that
--     follows; NULL when there is none
--   busy_ns: GPU busy time: union of its device intervals
--   idle_ns: time in its GPU span in which no work ran on the GPU
--   before_ns: end of the device work of all earlier iterations and passes on this GPU to the start of its first: scheduling, sampling and
--     input of an engine that does not overlap them; 0 when they overlap, NULL for the first
--   cpu_ns: CPU time of its range; NULL for periodic steps
--   mode: how it was launched: eager (no CUDA graph), graph (one replay) or piecewise (several); NULL when launches were not captured
--   graph_token_count: of decode with one replay: most tokens of an iteration that replayed the same graph, so that it computes at least as
--     many in each; NULL otherwise, and when the capture does not name the graph
--   prompt_key_count: context of the prompts, in tokens, those of this iteration included
--   decode_context_count: context of the generating sequences, likewise
--   token_count: tokens it computes, prompts and decoded
--   gpu_span_ns: GPU span: first start to last end of its device work
--   kernel_count: number of kernels; NULL where graphs were traced as a whole
--   eager_count: kernels launched outside graphs
--   replay_count: graph replays
--   graph_id: graph of a single replay; NULL otherwise
--   is_warmup: whether it is warm-up: by a warm-up rule, by the workload, or because it was found cold
--   name: name of its range, normalised; NULL for periodic steps
--   basis: how it was found: step (a range that is a step), period (the pattern of GPU work) or pass (a stage pass of one forward pass)
--   start_ns: start of its first device work, from the start of the source
--   device: GPU; NULL without device work
--   source_id: the source
--   pid: process
--   range_id: the range; NULL for periodic steps

SELECT
    i.nth,
    i.stage,
    i.prompt_count,
    i.prompt_token_count,
    i.decode_count,
    i.decode_token_count,
    i.time_ns,
    i.busy_ns,
    i.idle_ns,
    i.before_ns,
    i.cpu_ns,
    i.mode,
    i.graph_token_count,
    i.prompt_key_count,
    i.decode_context_count,
    i.token_count,
    i.gpu_span_ns,
    i.kernel_count,
    i.eager_count,
    i.replay_count,
    i.graph_id,
    i.is_warmup,
    p.name,
    i.basis,
    i.start_ns,
    i.device_id AS device,
    i.source_id,
    i.pid,
    i.range_id
FROM iteration i LEFT JOIN range_path p ON p.run_id = run AND p.path_id = i.name_path_id
WHERE i.run_id = run
    AND i.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
    AND (device IS NULL OR i.device_id = device)
    AND (stage IS NULL OR i.stage = stage)
ORDER BY i.source_id, i.start_ns, i.device_id, i.pid, i.nth
LIMIT CASE WHEN top = 0 THEN 9223372036854775807 ELSE top END
