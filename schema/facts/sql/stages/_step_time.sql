-- _step_time: Steps by time: the stretches of _step_window with what ran in them, and what follows each.
-- grain: one step on one GPU
-- key: source_id, pid, device_id, start_ns
-- needs: _step_sum
-- columns:
--   source_id INTEGER: the source
--   pid INTEGER: process; NULL when its launches were not captured
--   device_id INTEGER: GPU
--   range_id BIGINT: the range; NULL for what recurs
--   kernel_name_id BIGINT: kernel that a step begins with; NULL for a graph replay or a range
--   path_id BIGINT: path of names of the ranges that it was launched in; NULL for a range
--   start_ns BIGINT: start of its first device work
--   until_ns BIGINT: work that begins from then on is not its own; NULL where the end is not known
--   period_ns BIGINT: to that of the next step; NULL for the last of those that follow each other
--   gpu_span_ns BIGINT: to the last end of its work; NULL for the last of what recurs, whose end is unknown, as all below
--   busy_ns BIGINT: union of the intervals of its work, from where that of the steps before has ended
{{- range .Causes}}
--   {{.Column}} BIGINT: idle, {{.Meaning}}; NULL where not all gaps are known
{{- end}}
--   kernel_count BIGINT: kernels
--   memop_count BIGINT: copies and fills
--   graph_count BIGINT: replays whose kernels were not traced

-- The last step of a pass of what recurs has the prompt of the next pass behind it, up to the next occurrence: it has 1.9 times as many
-- kernels as the usual step, or 1.25 times as many with 1.2 times as many names. A step that only has more to do has them of the usual
-- names. What a join asks of its left side alone stands in its key: as a condition of its own, DuckDB would compare every pair of rows.
WITH usual AS (
    SELECT
        s.place,
        median(s.name_count) AS names
    FROM _step_sum s
    GROUP BY s.place
), spot AS (
    SELECT
        w.place,
        any_value(w.source_id) AS source_id,
        any_value(w.pid) AS pid,
        any_value(w.device_id) AS device_id
    FROM _step_work w
    GROUP BY w.place
), following AS (
    SELECT
        b.place,
        b.range_id,
        CASE WHEN NOT b.is_replay THEN b.work_id END AS kernel_name_id,
        b.path_id,
        b.start_ns,
        b.until_ns,
        CASE
            WHEN b.range_id IS NOT NULL THEN n.start_ns
            WHEN s.item_count < 1.9 * a.period_count
                AND NOT (s.item_count > 1.25 * a.period_count AND s.name_count > 1.2 * u.names)
                THEN b.until_ns
        END AS next_ns
    FROM _step_window b
    JOIN _step_sum s ON s.place = b.place AND s.start_ns = b.start_ns
    JOIN usual u ON u.place = b.place
    LEFT JOIN _step_anchor a ON a.place = CASE WHEN b.range_id IS NULL THEN b.place END
    LEFT JOIN _step_range r ON r.range_id = b.range_id
    LEFT JOIN _step_window n ON n.place = b.place AND n.range_id = r.next_range_id AND n.start_ns > b.start_ns
)
SELECT
    t.source_id,
    t.pid,
    t.device_id,
    f.range_id,
    f.kernel_name_id,
    f.path_id,
    f.start_ns,
    CASE WHEN s.end_ns IS NOT NULL THEN f.until_ns END AS until_ns,
    f.next_ns - f.start_ns AS period_ns,
    s.end_ns - s.start_ns AS gpu_span_ns,
    s.busy_ns,
    {{range .Causes}}g.{{.Column}},
    {{end}}s.kernel_count,
    s.memop_count,
    s.graph_count
FROM following f
JOIN spot t ON t.place = f.place
LEFT JOIN _step_sum s
    ON s.place = f.place AND s.start_ns = CASE WHEN f.range_id IS NOT NULL OR f.next_ns IS NOT NULL THEN f.start_ns END
LEFT JOIN _step_gap g ON g.place = s.place AND g.start_ns = s.start_ns
