-- ranges: Every range (NVTX, record_function) of every run, with its path of names and its stage.
-- grain: one range
-- key: run_id, range_id
-- columns:
--   run: name of the run
--   run_id: run id
--   source_id: the source
--   is_counted: whether its source is counted: sum only these rows, see kernels
--   stage: stage it is in or is a pass of, by stage_rule; NULL outside every stage
--   is_pass: whether it is a pass of that stage: its outermost range
--   is_warmup: whether it is a warm-up pass; NULL when it is not a pass
--   note: note, the named part of a stage, e.g. vision; NULL for none
--   path: range names, outermost open range first, down to this one
--   domain: NVTX domain; empty for the default one
--   name: name as recorded
--   style: push_pop or start_end; record_function for a PyTorch profiler range
--   pid: process
--   tid: thread that began it
--   start_ns: CPU start time
--   duration_ns: CPU time; NULL when it never ended in the capture
--   range_id: range id, as in range_device, range_context and stage_pass
--   parent_range_id: innermost range open on its thread at its start, in any domain; NULL when none
--   path_id: row of range_path and path_stage

SELECT
    r.name AS run,
    n.run_id,
    n.source_id,
    coalesce(t.is_counted, false) AS is_counted,
    s.stage,
    q.range_id IS NOT NULL AS is_pass,
    q.is_warmup,
    s.note,
    p.path,
    n.domain,
    n.name,
    n.style,
    n.pid,
    n.tid,
    n.start_ns,
    n.duration_ns,
    n.range_id,
    n.parent_range_id,
    n.path_id
FROM nvtx_range n
JOIN run r ON r.run_id = n.run_id
LEFT JOIN timeline t ON t.run_id = n.run_id AND t.source_id = n.source_id
LEFT JOIN path_stage s ON s.run_id = n.run_id AND s.path_id = n.path_id
LEFT JOIN range_path p ON p.run_id = n.run_id AND p.path_id = n.path_id
LEFT JOIN stage_pass q ON q.run_id = n.run_id AND q.range_id = n.range_id
