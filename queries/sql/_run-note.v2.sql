-- _run-note v2: What a reader of a run's numbers must know: work that a table of kernels cannot show, numbers it leaves out, and what Nsight Compute's results stand for.
-- grain: one note
-- key: kind, note
-- params:
--   run VARCHAR: the run
-- columns:
--   kind: graph, launch, range, spread, stage, warmup, ncu, profiled, match or source
--   note: the sentence

SELECT v1.kind, v1.note FROM _run_note_v1(run) v1
UNION ALL
SELECT 'ncu', 'the run has no kernels profiled by Nsight Compute; ingest a report (.ncu-rep) or its CSV pages, for the join into the same run as the timeline'
WHERE NOT EXISTS (SELECT 1 FROM ncu_launch l WHERE l.run_id = _run_id_v1(run) AND l.kind = 'kernel') AND EXISTS (SELECT 1 FROM run r WHERE r.run_id = _run_id_v1(run))
UNION ALL
SELECT 'profiled', string_agg(format('{} {}', x.n, x.kind), ', ' ORDER BY x.kind) || ' profiled by Nsight Compute'
FROM (
    SELECT CASE l.kind WHEN 'kernel' THEN 'kernel launches' WHEN 'range' THEN 'ranges' WHEN 'graph' THEN 'graphs' ELSE 'command lists' END AS kind, count(*) AS n
    FROM ncu_launch l WHERE l.run_id = _run_id_v1(run) GROUP BY ALL
) x HAVING count(*) > 0
UNION ALL
SELECT 'match', format('{} of {} profiled launches match the timeline; their kernels are {:.1f} % of its kernel time{}', count(m.matched_by), count(*),
    100.0 * coalesce((
        SELECT sum(t.total_ns) FROM _timeline_grid_v1(run) t
        WHERE EXISTS (SELECT 1 FROM _ncu_match_v1(run) y WHERE y.matched_by IS NOT NULL AND y.timeline_name_id = t.kernel_name_id AND y.grid = t.grid AND y.block = t.block)), 0)
    / nullif((SELECT sum(k.duration_ns) FROM kernel k WHERE k.run_id = _run_id_v1(run)), 0),
    CASE WHEN count(m.matched_by) < count(*) THEN ': for the others see prof query ncu-matches --unmatched' ELSE '' END)
FROM _ncu_match_v1(run) m
WHERE EXISTS (SELECT 1 FROM kernel k WHERE k.run_id = _run_id_v1(run)) HAVING count(*) > 0
UNION ALL
SELECT 'source', format('{} is {}: {}', s.path, s.status, s.reason) FROM source s WHERE s.run_id = _run_id_v1(run) AND s.status <> 'ok'
