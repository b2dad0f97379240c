-- critical-path v1: What set the length of a stage pass or step: its critical path by cause and subject, and by how much it would be
--     shorter without each. Of each kind the one of median length, warm-up excluded.
-- grain: one group of what is on the path of a stage pass or step
-- key: step, rank
-- notes: critical timelines workload launch range
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: maximum rows for each stage pass or step; 0 for all
--   stage VARCHAR = NULL: only this stage; (none) for steps outside every stage
--   per VARCHAR = 'subject': what to add up: subject (cause and the kernel, operation, function, range or operator that it is about),
--     cause, family (of kernels) or range (CPU time in an innermost range or operator). Of subject and cause the rows add up to the length,
--     but for launch-bound
--   slowest BOOLEAN = false: of each kind the slowest instead
--   step BIGINT = NULL: only this one, whichever of its kind it is: number as in the column step
--   {source}
-- columns:
--   stage: stage, by stage_rule; (none) outside every stage
--   step: number of the pass or step among those with a path
--   basis: pass (outermost range of a stage), range (a range that is a step) or period (a step from its first device work to that of the
--     next, where steps follow each other)
--   rank: rank by time_ns within the pass or step
--   cause: kernel, graph (replay traced as a whole), copy (or fill), collective, collective-wait (for the last rank), earlier (work that is
--     not of the step), launch, launch-delay, launch-latency, wait, call, host, profiler, queued (work that was not started although its
--     turn had come), stream-wait (from the end of what an event held work back for to the start of that work) or unknown; per cause also
--     launch-bound, which is launch, launch-delay and launch-latency together. NULL per family and range
--   subject: kernel, operation, API function, range, operator or family; of stream-wait the kernel or operation of the other stream. NULL
--     when the cause is about none
--   time_ns: time on the path
--   share_ratio: time_ns as a share of length_ns
--   saving_ns: by how much the pass or step would be shorter if all of this in it had taken no time, on the path or not: an estimate, at
--     most time_ns. NULL for earlier and unknown, and beyond the 100 longest
--   saving_ratio: saving_ns as a share of length_ns
--   piece_count: stretches of the path
--   length_ns: length of the pass or step: of a range, from its start to the later of its end and the end of its last device work; of a
--     period, from its first device work to that of the next
--   name: normalised range name; for steps without ranges the kernel that begins each, or graph replay
--   nth: number of the pass, as in passes, or of the step, as in steps
--   kind_count: passes or steps of its kind, warm-up excluded
--   device: GPU of a period; NULL for others, which may use several
--   source_id: the source
--   pid: process

SELECT
    s.stage,
    s.step,
    s.basis,
    row_number() OVER (PARTITION BY s.step ORDER BY w.duration_ns DESC, w.nth) AS rank,
    w.cause,
    coalesce(k.name, w.operation, a.name, o.name, p.name, w.family) AS subject,
    w.duration_ns AS time_ns,
    w.duration_ns / s.duration_ns AS share_ratio,
    w.saving_ns,
    w.saving_ns / s.duration_ns AS saving_ratio,
    w.piece_count,
    s.duration_ns AS length_ns,
    coalesce(r.name, b.name, 'graph replay') AS name,
    s.nth,
    s.kind_count,
    s.device_id AS device,
    s.source_id,
    s.pid
FROM _critical_step(run, source := source) s
JOIN critical_what_if w
    ON w.run_id = run
    AND w.step_id = s.step_id
    AND w.grouping_kind
        = CASE
            WHEN per IN ('subject', 'cause', 'family', 'range') THEN per
            ELSE error('ARGUMENT: --per is subject, cause, family or range')::VARCHAR
        END
LEFT JOIN kernel_name k ON k.run_id = w.run_id AND k.kernel_name_id = w.kernel_name_id
LEFT JOIN api_name a ON a.run_id = w.run_id AND a.api_name_id = w.api_name_id
LEFT JOIN op_name o ON o.run_id = w.run_id AND o.op_name_id = w.op_name_id
LEFT JOIN range_path p ON p.run_id = w.run_id AND p.path_id = w.name_path_id
LEFT JOIN range_path r ON r.run_id = run AND r.path_id = s.name_path_id
LEFT JOIN kernel_name b ON b.run_id = run AND b.kernel_name_id = s.kernel_name_id
WHERE (stage IS NULL OR s.stage = stage)
    AND CASE WHEN step IS NOT NULL THEN s.step = step WHEN slowest THEN s.is_slowest ELSE s.is_median END
QUALIFY top = 0 OR rank <= top
ORDER BY s.step, rank
