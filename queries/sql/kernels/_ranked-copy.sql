-- _ranked-copy: The copies and fills that rankings are of, and whether each is left out.
-- grain: one row of memop
-- key: none
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only operations issued in this stage; (none) for those outside every stage
--   device BIGINT = NULL: only this GPU
--   warmup BOOLEAN = false: leave nothing out
--   {source}
-- columns:
--   scope: part of the run, as _scope has it
--   is_left: whether rankings leave it out
--   operation: as in memop, like all columns below
--   src_memory: kind of memory copied from
--   dst_memory: kind of memory copied to or filled
--   duration_ns: time it took
--   size_bytes: bytes copied or set

SELECT
    _scope(b.source_id IS NOT NULL, c.is_warmup, coalesce(m.launch_start_ns, m.start_ns) < b.begin_ns) AS scope,
    NOT _counts(scope, stage, warmup) AS is_left,
    m.operation,
    m.src_memory,
    m.dst_memory,
    m.duration_ns,
    m.size_bytes
FROM memop m
LEFT JOIN path_stage s ON s.run_id = m.run_id AND s.path_id = m.path_id
LEFT JOIN measured_source b ON b.run_id = m.run_id AND b.source_id = m.source_id
LEFT JOIN pass_context c ON c.run_id = m.run_id AND c.range_context_id = m.range_context_id
WHERE m.run_id = run
    AND m.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
    AND (device IS NULL OR m.device_id = device)
    AND (stage IS NULL OR coalesce(s.stage, '(none)') = stage)
