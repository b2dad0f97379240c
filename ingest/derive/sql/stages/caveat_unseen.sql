-- caveat_unseen: Caveats about passes that begin behind a wait for device work from before the capture.
-- into: caveat
-- needs: unseen_work

SELECT 'pass' AS topic, 'unseen-work' AS kind, t.kind AS capture, t.is_counted, w.stage, max_by(w.name, w.time_ns) AS subject, count(*) AS item_count, max(w.time_ns)::DOUBLE AS time_ns
FROM _unseen_wait w JOIN timeline t ON t.run_id = $run AND t.source_id = w.source_id WHERE w.place = 'begin' GROUP BY t.kind, t.is_counted, w.stage
