-- _digest-pass v1: Rows of the table stage_pass: each pass of each stage of the counted timeline, warm-up included.
-- grain: one outermost range of a stage
-- key: range_id
-- params:
--   run VARCHAR: id of the run; a name gives no rows, since looking one up takes longer to plan than the rest
-- columns:
--   run_id: the run
--   source_id: the source
--   range_id: the range
--   stage: the stage, by stage_rule
--   pass_id: 1, 2, ... within the stage, source and process
--   repeat_id: 1, 2, ... the run of the workload that the source is of, where prof capture ran it several times; 1 otherwise
--   pid: process
--   is_warmup: whether stages leaves it out
--   start_ns: start on the CPU, from the start of the source
--   prompt_token_count: tokens of all prompts; NULL when nothing says
--   decode_token_count: tokens of all sequences that were decoded; NULL when nothing says
--   sequence_count: sequences that were worked on; NULL when nothing says
--   step_count: forward passes that decode; NULL when nothing says
--   cpu_ns: time on the CPU; NULL when it never ended
--   gpu_span_ns: first start to last end of its device work; NULL when it has none
--   gpu_busy_ns: union of its device intervals, added up over GPUs
--   gpu_sum_ns: sum of the durations of its device work
--   kernel_count: kernels

SELECT try_cast(run AS UUID) AS run_id, s.source_id, s.range_id, s.stage, row_number() OVER (PARTITION BY s.stage, s.source_id, s.pid ORDER BY s.start_ns, s.range_id) AS pass_id,
    coalesce(r.repeat_id, 1) AS repeat_id, s.pid, s.is_warmup, s.start_ns, s.prompt_token_count, s.decode_token_count, s.prompt_count + s.decode_count AS sequence_count, s.step_count,
    s.cpu_ns, s.gpu_span_ns, s.gpu_busy_ns, s.gpu_sum_ns, s.kernel_count
FROM _stage_pass_v1(run) s
LEFT JOIN _source_repeat_v1(run) r ON r.source_id = s.source_id
