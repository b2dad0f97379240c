-- steps v1: Steps (decode or training iterations, forward passes of a serving engine) in time order: ranges named step or iteration, else
--     the periodic pattern of GPU work.
-- grain: one step on one GPU
-- key: source_id, pid, device, stage, nth
-- notes: step timelines launch range
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: maximum rows; 0 for all
--   stage VARCHAR = NULL: only this stage; (none) for steps outside every stage
--   device BIGINT = NULL: only work on this GPU, and only steps with work on it
--   by VARCHAR = NULL: assign work to steps by launch (launched by the step's thread during it) or time (run during the step, other
--     threads' work included; for steps outside stages); default: time for ProfilerStep#, and for other ranges of one thread in which other
--     threads launch work
--   {source}
-- columns:
--   nth: step number within the stage, source, process and GPU, warm-up included, from 1
--   stage: stage, by stage_rule; (none) outside every stage
--   time_ns: time of the step, by time_basis; NULL for the last step of a pass when that is gpu_period
--   busy_ns: GPU busy time: union of its device intervals, which may end after the next step began; NULL when unknown
--   idle_ns: idle time between its first and last device work; when steps overlap (gpu_span_ns > period_ns), counted in both; NULL when
--     unknown
--   launch_bound_ns: part of idle_ns in launching calls (of graphs, or of less than 100 us) or on the way to them; NULL when unknown, like
--     the other parts: by time, when a GPU has more than 10,000 gaps
--   wait_ns: part of idle_ns while the thread waited for the GPU
--   host_ns: part of idle_ns while the thread was outside CUDA for 100 us or longer
--   kernel_count: number of kernels; NULL when unknown, as where graphs were traced as a whole
--   token_count: tokens decoded, all sequences together; NULL when unknown
--   token_time_ns: time per output token of a sequence: time_ns x sequences / tokens; NULL when unknown
--   is_warmup: whether it is warm-up: by a warm-up rule, by the workload, or because the step, its pass or a pass inside it was found cold
--   name: normalised range name; for periodic steps, the kernel that begins each step, or graph replay
--   device: GPU; NULL for a step without device work
--   time_basis: definition of time_ns: gpu_period where steps follow each other, else gpu_span, or cpu without device work
--   period_ns: start of its first device work to that of the next step in the same pass; NULL for the last step
--   cpu_ns: CPU time of the range; NULL for periodic steps
--   gpu_span_ns: GPU span: first start to last end of its device work; NULL when unknown
--   between_ns: end of its last device work to the start of the next step's first; NULL for the last step
{{- range without .Causes "launch-bound" "wait" "host"}}
--   {{.Column}}: part of idle_ns {{.Meaning}}
{{- end}}
--   other_ns: only work of other ranges ran
--   memop_count: copies and fills
--   graph_count: graph replays without traced kernels
--   start_ns: start of its first device work, from the start of the source; of the range when it has none
--   basis: how the step was found: range or period
--   source_id: the source
--   pid: process
--   range_id: the range; NULL for periodic steps

SELECT
    s.nth,
    s.stage,
    s.time_ns,
    s.busy_ns,
    s.idle_ns,
    s.launch_bound_ns,
    s.wait_ns,
    s.host_ns,
    CASE WHEN s.graph_count = 0 THEN s.kernel_count END AS kernel_count,
    s.token_count,
    s.time_ns::DOUBLE * s.decode_count / nullif(s.token_count, 0) AS token_time_ns,
    s.is_warmup,
    coalesce(p.name, k.name, 'graph replay') AS name,
    s.device_id AS device,
    s.time_basis,
    s.period_ns,
    s.cpu_ns,
    s.gpu_span_ns,
    s.between_ns,
    {{range without .Causes "launch-bound" "wait" "host"}}s.{{.Column}},
    {{end}}s.other_ns,
    s.memop_count,
    s.graph_count,
    s.start_ns,
    s.basis,
    s.source_id,
    s.pid,
    s.range_id
FROM step s
LEFT JOIN range_path p ON p.run_id = run AND p.path_id = s.name_path_id
LEFT JOIN kernel_name k ON k.run_id = run AND k.kernel_name_id = s.kernel_name_id
WHERE s.run_id = run
    AND s.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
    AND (device IS NULL OR s.device_id = device)
    AND (stage IS NULL OR s.stage = stage)
    AND _is_by("by", s.attribution, s.is_default)
ORDER BY s.source_id, s.start_ns, s.device_id, s.pid, s.range_id, s.stage
LIMIT CASE WHEN top = 0 THEN 9223372036854775807 ELSE top END
