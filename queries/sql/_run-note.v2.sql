-- _run-note v2: What a reader of a run's numbers must know: work that a table of kernels cannot show, numbers it leaves out, and what Nsight Compute's results stand for.
-- grain: one note
-- key: kind, note
-- params:
--   run VARCHAR: the run
-- columns:
--   kind: graph, launch, range, spread, stage, warmup, timeline, ncu, region, profiled or source
--   note: the sentence

SELECT v1.kind, v1.note FROM _run_note_v1(run) v1
UNION ALL
SELECT 'timeline', 'the run has no timeline of Nsight Systems, only what Nsight Compute profiled: see prof query bottlenecks and region-metrics'
WHERE NOT EXISTS (SELECT 1 FROM kernel k WHERE k.run_id = _run_id_v1(run)) AND EXISTS (SELECT 1 FROM ncu_launch l WHERE l.run_id = _run_id_v1(run))
UNION ALL
SELECT 'ncu', 'the run has no kernels profiled by Nsight Compute' || CASE WHEN EXISTS (SELECT 1 FROM ncu_launch l WHERE l.run_id = _run_id_v1(run))
    THEN ', only ranges or graphs: see prof query region-metrics' ELSE '; ingest a report (.ncu-rep) or its CSV pages, for the join in one call with the timeline' END
WHERE NOT EXISTS (SELECT 1 FROM ncu_launch l WHERE l.run_id = _run_id_v1(run) AND l.kind = 'kernel') AND EXISTS (SELECT 1 FROM run r WHERE r.run_id = _run_id_v1(run))
UNION ALL
SELECT 'region', 'nothing was profiled as a whole; ncu does so with --replay-mode range or app-range, and graphs with --graph-profiling graph'
WHERE NOT EXISTS (SELECT 1 FROM ncu_launch l WHERE l.run_id = _run_id_v1(run) AND l.kind <> 'kernel') AND EXISTS (SELECT 1 FROM run r WHERE r.run_id = _run_id_v1(run))
UNION ALL
SELECT 'profiled', string_agg(format('{} {}', x.n, x.kind), ', ' ORDER BY x.kind) || ' profiled by Nsight Compute'
FROM (
    SELECT CASE l.kind WHEN 'kernel' THEN 'kernel launches' WHEN 'range' THEN 'ranges' WHEN 'graph' THEN 'graphs' ELSE 'command lists' END AS kind, count(*) AS n
    FROM ncu_launch l WHERE l.run_id = _run_id_v1(run) GROUP BY ALL
) x HAVING count(*) > 0
UNION ALL
SELECT 'source', format('{} is {}: {}', s.path, s.status, s.reason) FROM source s WHERE s.run_id = _run_id_v1(run) AND s.status <> 'ok'
