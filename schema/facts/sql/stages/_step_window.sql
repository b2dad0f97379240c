-- _step_window: Which stretches of a GPU's time are steps: of a range that is one and in no stage, from the first device work launched in
--     it to that of the next such range, at most to the last work that its process launched while it was open; of sources without such
--     ranges, from one occurrence of what recurs to the next.
-- grain: one step on one GPU
-- key: place, start_ns
-- needs: _step_work _step_range|_step_anchor
-- columns:
--   place UBIGINT: as in _step_work
--   range_id BIGINT: the range; NULL for what recurs
--   work_id BIGINT: kernel or graph that recurs, as in _step_work; NULL for a range
--   is_replay BOOLEAN: whether that is a graph replay; NULL for a range
--   path_id BIGINT: path of names of the ranges that it was launched in; NULL for a range
--   start_ns BIGINT: start of its first device work
--   until_ns BIGINT: work that begins from then on is not its own; NULL when the last work of the source may be

-- A range without device work of its thread's has that of other threads, by when these launched it.
WITH open AS (
    SELECT
        w.place,
        any_value(w.device_id) AS device_id,
        r.range_id,
        min(w.start_ns) AS first_ns,
        max(w.start_ns) AS last_ns
    FROM (
        SELECT w.place, w.source_id, w.pid, w.device_id, w.start_ns, w.launch_start_ns
        FROM _step_work w
        WHERE w.launch_start_ns IS NOT NULL AND w.pid IS NOT NULL AND (w.duration_ns > 0 OR NOT w.is_replay)
    ) w
    ASOF JOIN (
        SELECT
            r.range_id,
            r.source_id,
            r.pid,
            r.start_ns,
            coalesce(r.start_ns + r.cpu_ns, 9223372036854775807) AS end_ns
        FROM _step_range r
        WHERE r.stage IS NULL
    ) r ON r.source_id = w.source_id AND r.pid = w.pid AND r.start_ns <= w.launch_start_ns
    WHERE w.launch_start_ns < r.end_ns
    GROUP BY w.place, r.range_id
), own AS (
    SELECT
        o.place,
        o.range_id,
        coalesce(d.first_start_ns, o.first_ns) AS start_ns,
        o.last_ns
    FROM open o
    LEFT JOIN range_device d ON d.run_id = $run AND d.range_id = o.range_id AND d.device_id = o.device_id
), recurring AS (
    SELECT w.place, w.work_id, w.is_replay, w.path_id, w.start_ns
    FROM _step_work w
    JOIN _step_anchor a ON a.place = w.place AND a.work_id = w.work_id AND a.is_replay = w.is_replay
)
SELECT
    o.place,
    o.range_id,
    NULL AS work_id,
    NULL AS is_replay,
    NULL AS path_id,
    o.start_ns,
    least(lead(o.start_ns) OVER (PARTITION BY o.place ORDER BY o.start_ns), o.last_ns + 1) AS until_ns
FROM own o
QUALIFY row_number() OVER (PARTITION BY o.place, o.start_ns ORDER BY o.range_id) = 1
UNION ALL
SELECT
    r.place,
    NULL,
    r.work_id,
    r.is_replay,
    r.path_id,
    r.start_ns,
    lead(r.start_ns) OVER (PARTITION BY r.place ORDER BY r.start_ns)
FROM recurring r
QUALIFY row_number() OVER (PARTITION BY r.place, r.start_ns ORDER BY r.work_id) = 1
