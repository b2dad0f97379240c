-- _note-accounting v1: That a run was stored before the time of GPUs was accounted for. Apart from _run-note, which DuckDB plans for longer than this runs.
-- grain: one note
-- key: note
-- params:
--   run VARCHAR: the run
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   note: the sentence

SELECT format('{} was stored by prof {}, which did not account for the time of GPUs: ingest it again with --replace', s.path, any_value(r.prof_version)) AS note
FROM source s JOIN run r ON r.run_id = s.run_id
WHERE s.run_id = _run_id_v1(run) AND s.source_id IN (SELECT t.source_id FROM _timeline_v1(run, source := source) t)
    AND NOT EXISTS (SELECT 1 FROM device_time d WHERE d.run_id = s.run_id AND d.source_id = s.source_id)
    AND (EXISTS (SELECT 1 FROM kernel k WHERE k.run_id = s.run_id AND k.source_id = s.source_id) OR EXISTS (SELECT 1 FROM memop m WHERE m.run_id = s.run_id AND m.source_id = s.source_id))
GROUP BY s.source_id, s.path
