-- _run-note v1: What a reader of a run's numbers must know: work that a table of kernels cannot show, and numbers it leaves out.
-- grain: one note
-- key: kind, note
-- params:
--   run VARCHAR: the run
-- columns:
--   kind: graph, launch, range, spread, stage or warmup
--   note: the sentence

SELECT 'graph' AS kind, format('{} CUDA graph replays ({:.3f} ms of device time) were traced as a whole: their kernels are in no kernel table; capture with --cuda-graph-trace=node to see them', count(*), sum(g.duration_ns) / 1e6) AS note
FROM graph_launch g WHERE g.run_id = _run_id_v1(run) AND g.mode = 'graph' HAVING count(*) > 0
UNION ALL
SELECT 'launch', format('{} kernels ({:.3f} ms) have no launch in the capture and belong to no range', count(*), sum(k.duration_ns) / 1e6)
FROM kernel k WHERE k.run_id = _run_id_v1(run) AND k.path_id IS NULL HAVING count(*) > 0
UNION ALL
SELECT 'range', format('{} ranges never ended in the capture: their CPU time is unknown', count(*))
FROM nvtx_range n WHERE n.run_id = _run_id_v1(run) AND n.duration_ns IS NULL HAVING count(*) > 0
UNION ALL
SELECT 'warmup', format('{} warm-up passes are left out', count(*))
FROM nvtx_range n JOIN path_stage s ON s.run_id = n.run_id AND s.path_id = n.path_id AND s.stage_path_id = n.path_id
WHERE n.run_id = _run_id_v1(run) AND s.is_warmup HAVING count(*) > 0
UNION ALL
SELECT 'spread', format('the passes of {} differ {:.1f}-fold in time on the CPU, the first one takes {:.3f} ms of a median of {:.3f}: is it warm-up? see prof query passes', x.stage,
    max(x.duration_ns) / min(x.duration_ns), arg_min(x.duration_ns, x.start_ns) / 1e6, median(x.duration_ns) / 1e6)
FROM (
    SELECT s.stage, n.duration_ns, n.start_ns
    FROM nvtx_range n JOIN path_stage s ON s.run_id = n.run_id AND s.path_id = n.path_id AND s.stage_path_id = n.path_id
    WHERE n.run_id = _run_id_v1(run) AND NOT s.is_warmup AND n.duration_ns > 0
) x GROUP BY x.stage HAVING max(x.duration_ns) > 2 * min(x.duration_ns)
UNION ALL
SELECT 'stage', format('no range of this run is a stage by the rules in stage_rule; it has {} ranges, see prof query ranges', (SELECT count(*) FROM nvtx_range n WHERE n.run_id = _run_id_v1(run)))
WHERE NOT EXISTS (SELECT 1 FROM path_stage s WHERE s.run_id = _run_id_v1(run) AND s.stage IS NOT NULL) AND EXISTS (SELECT 1 FROM run r WHERE r.run_id = _run_id_v1(run))
