-- cold-passes v1: Cold passes: the first passes of each stage that were slow and are excluded, with their excess over a steady pass and
--     what they spent on one-time work.
-- grain: one cold pass
-- key: range_id
-- notes: pass timelines recorded
-- params:
--   run VARCHAR: the run
--   {source}
-- columns:
--   stage: the stage, by stage_rule
--   pass: pass number within the stage, source and process, from 1
--   time_ns: time of the pass: GPU span, or CPU time when no pass of the stage in its process has device work
--   steady_ns: median time of a steady pass: the later half of the passes of its process
--   excess_ns: time_ns less steady_ns
--   load_ns: time in calls that load modules, libraries and their functions; NULL when none was traced
--   launch_ns: time in launches of 0.5 ms or longer; CUDA loads a kernel at its first launch, so load_ns includes the loading within them
--   allocate_ns: time in calls that allocate, map or free memory
--   graph_ns: time in calls that create or update CUDA graphs
--   source_id: the source
--   pid: process
--   range_id: the range

SELECT
    p.stage,
    p.pass_id AS pass,
    c.time_ns,
    c.steady_ns,
    c.time_ns - c.steady_ns AS excess_ns,
    sum(s.time_ns) FILTER (s.kind = 'load')::BIGINT AS load_ns,
    sum(s.time_ns) FILTER (s.kind = 'launch')::BIGINT AS launch_ns,
    sum(s.time_ns) FILTER (s.kind = 'allocate')::BIGINT AS allocate_ns,
    sum(s.time_ns) FILTER (s.kind = 'graph')::BIGINT AS graph_ns,
    p.source_id,
    p.pid,
    p.range_id
FROM cold_pass c
JOIN stage_pass p ON p.run_id = c.run_id AND p.range_id = c.range_id
JOIN _timeline(run, source := source) t ON t.source_id = p.source_id
LEFT JOIN cold_sign s ON s.run_id = c.run_id AND s.range_id = c.range_id
WHERE c.run_id = run
GROUP BY p.stage, p.pass_id, c.time_ns, c.steady_ns, p.source_id, p.pid, p.range_id
ORDER BY c.time_ns DESC, p.stage, p.range_id
