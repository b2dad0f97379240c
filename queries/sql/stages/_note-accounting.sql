-- _note-accounting: That a run was stored before the time of GPUs was accounted for, and which numbers of GPUs stand for several. Apart from _run-note, which DuckDB plans for longer than this runs.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   note: the sentence

SELECT format('{} was stored by prof {}, which did not account for the time of GPUs: ingest it again with --replace', s.path, any_value(r.prof_version)) AS note
FROM source s JOIN run r ON r.run_id = s.run_id
WHERE s.run_id = run AND s.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
    AND NOT EXISTS (SELECT 1 FROM device_time d WHERE d.run_id = s.run_id AND d.source_id = s.source_id)
    AND (EXISTS (SELECT 1 FROM kernel k WHERE k.run_id = s.run_id AND k.source_id = s.source_id) OR EXISTS (SELECT 1 FROM memop m WHERE m.run_id = s.run_id AND m.source_id = s.source_id)
        OR EXISTS (SELECT 1 FROM graph_launch g WHERE g.run_id = s.run_id AND g.source_id = s.source_id))
GROUP BY s.source_id, s.path
UNION ALL
SELECT format('GPU {} stands for {} different GPUs: {}{}; what is told by its number adds them up, in pass-accounting, collectives and step-times sources are apart', u.device_id, count(*),
    string_agg(format('{} in {}', u.uuid, u.path), ', ' ORDER BY u.place) FILTER (u.place <= 4), CASE WHEN count(*) > 4 THEN ', ...' ELSE '' END)
FROM (
    SELECT d.device_id, d.uuid, arg_min(s.path, s.source_id) AS path, row_number() OVER (PARTITION BY d.device_id ORDER BY min(s.source_id), d.uuid) AS place
    FROM device d JOIN source s ON s.run_id = d.run_id AND s.source_id = d.source_id JOIN _timeline(run, source := source) t ON t.source_id = s.source_id
    JOIN device_time w ON w.run_id = d.run_id AND w.source_id = d.source_id AND w.device_id = d.device_id AND w.range_id IS NULL
    WHERE d.run_id = run AND d.uuid IS NOT NULL
    GROUP BY d.device_id, d.uuid
) u GROUP BY u.device_id HAVING count(*) > 1
