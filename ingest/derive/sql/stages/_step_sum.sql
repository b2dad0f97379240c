-- _step_sum: What ran in the time of each step, whoever launched it: work that began in it.
-- grain: one step on one GPU with work in it
-- key: place, start_ns
-- needs: _step_window
-- columns:
--   place UBIGINT: as in _step_work
--   start_ns BIGINT: start of the step, as in _step_window
--   end_ns BIGINT: last end of its work
--   busy_ns BIGINT: union of the intervals of its work, from where that of the steps before has ended
--   kernel_ns BIGINT: the part of that in which its kernels ran
--   graph_ns BIGINT: its replays whose kernels were not traced ran, and none of its kernels
--   copy_ns BIGINT: its copies and fills ran, and neither of those
--   kernel_count BIGINT: kernels
--   memop_count BIGINT: copies and fills
--   graph_count BIGINT: replays whose kernels were not traced
--   item_count BIGINT: kernels and replays
--   name_count BIGINT: different kernels and graphs

-- Windows are within a step: one over all work takes several times as long. What lasts from before a step is known by the steps' ends.
WITH item AS (
    SELECT w.place, b.start_ns AS step_ns, coalesce(w.start_ns < coalesce(b.until_ns, 9223372036854775807), false) AS is_in, w.start_ns, w.start_ns + w.duration_ns AS end_ns, w.work_id, w.is_replay,
        CASE WHEN w.is_replay AND w.duration_ns = 0 THEN 0 WHEN w.is_replay THEN 2 WHEN w.work_id IS NULL THEN 3 ELSE 1 END AS kind
    FROM _step_work w ASOF LEFT JOIN _step_window b ON b.place = w.place AND b.start_ns <= w.start_ns
), held AS (
    SELECT i.place, i.step_ns, i.is_in, i.start_ns, i.end_ns, i.work_id, i.kind,
        max(i.end_ns) OVER w AS any_ns, max(CASE WHEN i.kind <= 2 THEN i.end_ns END) OVER w AS traced_ns, max(CASE WHEN i.kind = 1 THEN i.end_ns END) OVER w AS kernel_ns
    FROM item i WINDOW w AS (PARTITION BY i.place, i.step_ns, i.is_in ORDER BY i.start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), ended AS (
    SELECT e.place, e.step_ns, e.is_in, max(e.end_ns) OVER (PARTITION BY e.place ORDER BY e.step_ns NULLS FIRST, e.is_in DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns
    FROM (SELECT h.place, h.step_ns, h.is_in, max(h.end_ns) AS end_ns FROM held h GROUP BY h.place, h.step_ns, h.is_in) e
), summed AS (
    SELECT h.place, h.step_ns AS start_ns, max(h.end_ns) AS end_ns, sum(greatest(h.end_ns - greatest(h.start_ns, h.any_ns, e.before_ns), 0))::BIGINT AS busy_ns,
        coalesce(sum(CASE WHEN h.kind <= 2 THEN greatest(h.end_ns - greatest(h.start_ns, h.traced_ns, e.before_ns), 0) END), 0)::BIGINT AS traced_ns,
        coalesce(sum(CASE WHEN h.kind = 1 THEN greatest(h.end_ns - greatest(h.start_ns, h.kernel_ns, e.before_ns), 0) END), 0)::BIGINT AS kernel_ns,
        count(CASE WHEN h.kind = 1 THEN 1 END) AS kernel_count, count(CASE WHEN h.kind = 3 THEN 1 END) AS memop_count, count(CASE WHEN h.kind = 2 THEN 1 END) AS graph_count,
        count(h.work_id) AS item_count, count(DISTINCT h.work_id) AS name_count
    FROM held h JOIN ended e ON e.place = h.place AND e.step_ns = h.step_ns AND e.is_in
    WHERE h.is_in
    GROUP BY h.place, h.step_ns
)
SELECT s.place, s.start_ns, s.end_ns, s.busy_ns, s.kernel_ns, s.traced_ns - s.kernel_ns AS graph_ns, s.busy_ns - s.traced_ns AS copy_ns, s.kernel_count, s.memop_count, s.graph_count, s.item_count, s.name_count
FROM summed s
