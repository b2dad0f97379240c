-- _step_sum: What ran in the time of each step, whoever launched it: work that began in it.
-- grain: one step on one GPU with work in it
-- key: place, start_ns
-- needs: _step_window
-- columns:
--   place UBIGINT: as in _step_work
--   start_ns BIGINT: start of the step, as in _step_window
--   end_ns BIGINT: last end of its work
--   busy_ns BIGINT: union of the intervals of its work, from where that of the steps before has ended
--   kernel_count BIGINT: kernels
--   memop_count BIGINT: copies and fills
--   graph_count BIGINT: replays whose kernels were not traced
--   item_count BIGINT: kernels and replays
--   name_count BIGINT: different kernels and graphs

-- Windows are within a step: one over all work takes several times as long. What lasts from before a step is known by the steps' ends.
WITH item AS (
    SELECT
        w.place,
        b.start_ns AS step_ns,
        coalesce(w.start_ns < coalesce(b.until_ns, 9223372036854775807), false) AS is_in,
        w.start_ns,
        w.start_ns + w.duration_ns AS end_ns,
        w.work_id,
        w.is_replay,
        CASE
            WHEN w.is_replay AND w.duration_ns = 0 THEN NULL
            WHEN w.is_replay THEN 'graph'
            WHEN w.work_id IS NULL THEN 'copy'
            ELSE 'kernel'
        END AS kind
    FROM _step_work w
    ASOF LEFT JOIN _step_window b ON b.place = w.place AND b.start_ns <= w.start_ns
), held AS (
    SELECT
        i.place,
        i.step_ns,
        i.is_in,
        i.start_ns,
        i.end_ns,
        i.work_id,
        i.kind,
        max(i.end_ns) OVER (
            PARTITION BY i.place, i.step_ns, i.is_in
            ORDER BY i.start_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before_ns
    FROM item i
), ended AS (
    SELECT
        e.place,
        e.step_ns,
        e.is_in,
        max(e.end_ns) OVER (
            PARTITION BY e.place
            ORDER BY e.step_ns NULLS FIRST, e.is_in DESC
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before_ns
    FROM (
        SELECT
            h.place,
            h.step_ns,
            h.is_in,
            max(h.end_ns) AS end_ns
        FROM held h
        GROUP BY h.place, h.step_ns, h.is_in
    ) e
)
SELECT
    h.place,
    h.step_ns AS start_ns,
    max(h.end_ns) AS end_ns,
    sum(greatest(h.end_ns - greatest(h.start_ns, h.before_ns, e.before_ns), 0))::BIGINT AS busy_ns,
    count(CASE WHEN h.kind = 'kernel' THEN 1 END) AS kernel_count,
    count(CASE WHEN h.kind = 'copy' THEN 1 END) AS memop_count,
    count(CASE WHEN h.kind = 'graph' THEN 1 END) AS graph_count,
    count(h.work_id) AS item_count,
    count(DISTINCT h.work_id) AS name_count
FROM held h JOIN ended e ON e.place = h.place AND e.step_ns = h.step_ns AND e.is_in
WHERE h.is_in
GROUP BY h.place, h.step_ns
