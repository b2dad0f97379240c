-- _step_gap: Idle time inside steps, from their first to their last device work, by its cause. Of GPUs whose gaps are all known: of those
--     with more than 10,000 the table gap holds the longest alone.
-- grain: one step on one GPU
-- key: place, start_ns
-- needs: _step_sum device_time
-- columns:
--   place UBIGINT: as in _step_work
--   start_ns BIGINT: start of the step, as in _step_window
{{- range .Causes}}
--   {{.Column}} BIGINT: idle, {{.Meaning}}
{{- end}}

WITH whole AS (
    SELECT d.source_id, d.device_id
    FROM device_time d
    WHERE d.run_id = $run
        AND d.range_id IS NULL
        AND d.gap_count = (
            SELECT count(*)
            FROM gap g
            WHERE g.run_id = $run AND g.source_id = d.source_id AND g.device_id = d.device_id
        )
), spot AS (
    SELECT DISTINCT w.place, w.source_id, w.device_id
    FROM _step_work w JOIN whole h ON h.source_id = w.source_id AND h.device_id = w.device_id
), inside AS (
    SELECT g.place, b.start_ns, g.part, g.ns
    FROM (
        SELECT s.place, g.start_ns, g.part, g.ns
        FROM gap_part g JOIN spot s ON s.source_id = g.source_id AND s.device_id = g.device_id
        WHERE g.run_id = $run
    ) g
    ASOF JOIN _step_sum b ON b.place = g.place AND b.start_ns <= g.start_ns
    WHERE g.start_ns < b.end_ns
)
SELECT
    b.place,
    b.start_ns{{range .Causes}},
    coalesce(sum(i.ns) FILTER (p.kind = {{quote .Name}}), 0)::BIGINT AS {{.Column}}{{end}}
FROM _step_sum b
JOIN spot s ON s.place = b.place
LEFT JOIN inside i ON i.place = b.place AND i.start_ns = b.start_ns
LEFT JOIN stage_part p ON p.part = i.part
GROUP BY b.place, b.start_ns
