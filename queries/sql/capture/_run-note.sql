-- _run-note: What a reader of a run's numbers must know: numbers they leave out, and what Nsight Compute's results stand for. Other kinds of notes have a query of their own (_note-graph, ...).
-- grain: one note
-- key: kind, note
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   kind: launch, range, spread, stage, warmup, timeline, ncu, region, profiled or source
--   note: the sentence

WITH counted AS (
    SELECT t.source_id FROM _timeline(run, source := source) t
), pass AS (
    SELECT s.stage, s.is_warmup, n.duration_ns, n.start_ns
    FROM nvtx_range n JOIN path_stage s ON s.run_id = n.run_id AND s.path_id = n.path_id AND s.stage_path_id = n.path_id
    WHERE n.run_id = run AND n.source_id IN (SELECT counted.source_id FROM counted)
), staged AS (
    SELECT s.path_id FROM path_stage s WHERE s.run_id = run AND s.stage IS NOT NULL
)
SELECT 'launch' AS kind, format('{} kernels ({:.3f} ms) have no launch in the capture and belong to no range', count(*), sum(k.duration_ns) / 1e6) AS note
FROM kernel k WHERE k.run_id = run AND k.source_id IN (SELECT counted.source_id FROM counted) AND k.path_id IS NULL HAVING count(*) > 0
UNION ALL
SELECT 'range', format('{} ranges never ended in the capture: their CPU time is unknown', count(*))
FROM nvtx_range n WHERE n.run_id = run AND n.source_id IN (SELECT counted.source_id FROM counted) AND n.duration_ns IS NULL HAVING count(*) > 0
UNION ALL
SELECT 'warmup', format('{} warm-up passes are left out', count(*)) FROM pass WHERE pass.is_warmup HAVING count(*) > 0
UNION ALL
SELECT 'spread', format('the passes of {} differ {:.1f}-fold in time on the CPU, the first one takes {:.3f} ms of a median of {:.3f}: is it warm-up? see prof query passes', p.stage,
    max(p.duration_ns) / min(p.duration_ns), arg_min(p.duration_ns, p.start_ns) / 1e6, median(p.duration_ns) / 1e6)
FROM pass p WHERE NOT p.is_warmup AND p.duration_ns > 0
GROUP BY p.stage HAVING max(p.duration_ns) > 2 * min(p.duration_ns)
UNION ALL -- a stage of a profiled launch counts too
SELECT 'stage', format('no range of this run is a stage by the rules in stage_rule; it has {} ranges, see prof query ranges', (
    SELECT count(*) FROM nvtx_range n WHERE n.run_id = run AND n.source_id IN (SELECT counted.source_id FROM counted)))
WHERE NOT EXISTS (SELECT 1 FROM nvtx_range n WHERE n.run_id = run AND n.source_id IN (SELECT counted.source_id FROM counted) AND n.path_id IN (SELECT staged.path_id FROM staged))
    AND NOT EXISTS (SELECT 1 FROM ncu_launch l WHERE l.run_id = run AND l.path_id IN (SELECT staged.path_id FROM staged))
    AND EXISTS (SELECT 1 FROM run r WHERE r.run_id = run)
UNION ALL
SELECT 'timeline', CASE WHEN EXISTS (SELECT 1 FROM counted) THEN 'the counted timeline holds no kernels; for what Nsight Compute profiled see prof query bottlenecks and region-metrics'
    ELSE 'the run has no timeline, neither of Nsight Systems nor of the PyTorch profiler, only what Nsight Compute profiled: see prof query bottlenecks and region-metrics' END
WHERE NOT EXISTS (SELECT 1 FROM kernel k WHERE k.run_id = run AND k.source_id IN (SELECT counted.source_id FROM counted)) AND EXISTS (SELECT 1 FROM ncu_launch l WHERE l.run_id = run)
UNION ALL
SELECT 'ncu', 'the run has no kernels profiled by Nsight Compute' || CASE WHEN EXISTS (SELECT 1 FROM ncu_launch l WHERE l.run_id = run)
    THEN ', only ranges or graphs: see prof query region-metrics' ELSE '; ingest a report (.ncu-rep) or its CSV pages, for the join in one call with the timeline' END
WHERE NOT EXISTS (SELECT 1 FROM ncu_launch l WHERE l.run_id = run AND l.kind = 'kernel') AND EXISTS (SELECT 1 FROM run r WHERE r.run_id = run)
UNION ALL
SELECT 'region', 'nothing was profiled as a whole; ncu does so with --replay-mode range or app-range, and graphs with --graph-profiling graph'
WHERE NOT EXISTS (SELECT 1 FROM ncu_launch l WHERE l.run_id = run AND l.kind <> 'kernel') AND EXISTS (SELECT 1 FROM run r WHERE r.run_id = run)
UNION ALL
SELECT 'profiled', string_agg(format('{} {}', x.n, x.kind), ', ' ORDER BY x.kind) || ' profiled by Nsight Compute'
FROM (
    SELECT CASE l.kind WHEN 'kernel' THEN 'kernel launches' WHEN 'range' THEN 'ranges' WHEN 'graph' THEN 'graphs' ELSE 'command lists' END AS kind, count(*) AS n
    FROM ncu_launch l WHERE l.run_id = run GROUP BY ALL
) x HAVING count(*) > 0
UNION ALL
SELECT 'source', format('{} is {}: {}', s.path, s.status, s.reason) FROM source s WHERE s.run_id = run AND s.status <> 'ok'
