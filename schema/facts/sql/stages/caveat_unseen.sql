-- caveat_unseen: Caveats about device work from before and after the capture that something in it waits for.
-- into: caveat
-- needs: unseen_work|sync|api_call

SELECT
    'launch' AS topic,
    CASE WHEN w.place = 'begin' THEN 'unseen-work' ELSE 'unseen-wait' END AS kind,
    t.kind AS capture,
    t.is_counted,
    w.stage,
    CASE WHEN w.place <> 'begin' THEN w.place END AS detail,
    max_by(w.name, w.time_ns) AS subject,
    count(*) AS item_count,
    max(w.time_ns)::DOUBLE AS time_ns
FROM _unseen_wait w JOIN timeline t ON t.run_id = $run AND t.source_id = w.source_id
GROUP BY t.kind, t.is_counted, w.stage, w.place
