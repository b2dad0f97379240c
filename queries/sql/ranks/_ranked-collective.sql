-- _ranked-collective: The collective kernels that rankings are of, and whether each is left out.
-- grain: one row of collective
-- key: none
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage; (none) for kernels outside every stage
--   device BIGINT = NULL: only this GPU
--   warmup BOOLEAN = false: leave nothing out
--   {source}
-- columns:
--   stage: stage of the launch; (none) outside every stage, or when it was not captured
--   scope: part of the run, as _scope has it; by the start on the GPU
--   is_left: whether rankings leave it out
--   device_id: GPU, as in collective, like all columns below
--   operation: all-reduce, all-gather, ...
--   family: kernel family
--   start_ns: start on the GPU
--   end_ns: end on the GPU
--   exposed_ns: part of its time in which only collectives ran
--   in_bytes: bytes the rank sends
--   out_bytes: bytes the rank receives
--   group_count: ranks in the communicator
--   rank_id: rank of the process
--   source_id: the source
--   pid: process

SELECT
    coalesce(s.stage, '(none)') AS stage,
    _scope(b.source_id IS NOT NULL, x.is_warmup, c.start_ns < b.begin_ns) AS scope,
    NOT _counts(scope, stage, warmup) AS is_left,
    c.device_id,
    c.operation,
    c.family,
    c.start_ns,
    c.end_ns,
    c.exposed_ns,
    c.in_bytes,
    c.out_bytes,
    c.group_count,
    c.rank_id,
    c.source_id,
    c.pid
FROM collective c
LEFT JOIN path_stage s ON s.run_id = c.run_id AND s.path_id = c.path_id
LEFT JOIN measured_source b ON b.run_id = c.run_id AND b.source_id = c.source_id
LEFT JOIN pass_context x ON x.run_id = c.run_id AND x.range_context_id = c.range_context_id
WHERE c.run_id = run
    AND c.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
    AND (device IS NULL OR c.device_id = device)
    AND (stage IS NULL OR coalesce(s.stage, '(none)') = stage)
