-- _step_period: Steps of the sources without step ranges, from one occurrence of what recurs (_step_anchor) to the next.
-- grain: one step on one GPU
-- key: source_id, pid, device_id, start_ns
-- needs: _step_anchor
-- columns:
--   source_id INTEGER: the source
--   pid INTEGER: process; NULL when the launches were not captured
--   device_id INTEGER: GPU
--   name VARCHAR: kernel that a step begins with, or graph replay
--   path_id BIGINT: path of names of the ranges that it was launched in
--   start_ns BIGINT: its start
--   period_ns BIGINT: to the next one; NULL for the last step of those that follow each other
--   gpu_span_ns BIGINT: to the last end of the work that began before the next one; NULL for the last, whose end is unknown
--   busy_ns BIGINT: union of the intervals of this work; NULL likewise
--   kernel_count BIGINT: kernels; NULL likewise
--   memop_count BIGINT: copies and fills; NULL likewise
--   graph_count BIGINT: replays whose kernels were not traced; NULL likewise

-- The last step of a pass has the prompt of the next pass behind it, up to the next occurrence: it has 1.9 times as many kernels as
-- the usual step, or 1.25 times as many with 1.2 times as many names. A step that only has more to do has them of the usual names.
-- Windows are within a step: one over all work takes several times as long. What lasts from before a step is known by the steps' ends.
WITH item AS (
    SELECT w.place, w.start_ns, w.start_ns + w.duration_ns AS end_ns, w.duration_ns, w.work_id, w.is_replay, w.path_id, coalesce(a.work_id = w.work_id AND a.is_replay = w.is_replay, false) AS begins
    FROM _step_work w JOIN _step_anchor a ON a.place = w.place
), held AS (
    SELECT i.place, b.start_ns AS step_ns, i.start_ns, i.end_ns, i.duration_ns, i.work_id, i.is_replay, i.path_id, i.begins, max(i.end_ns) OVER (PARTITION BY i.place, b.start_ns ORDER BY i.start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until_ns
    FROM item i ASOF LEFT JOIN (SELECT DISTINCT x.place, x.start_ns FROM item x WHERE x.begins) b ON b.place = i.place AND b.start_ns <= i.start_ns
), ended AS (
    SELECT e.place, e.step_ns, max(e.end_ns) OVER (PARTITION BY e.place ORDER BY e.step_ns NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns
    FROM (SELECT h.place, h.step_ns, max(h.end_ns) AS end_ns FROM held h GROUP BY h.place, h.step_ns) e
), whole AS (
    SELECT h.place, h.step_ns AS start_ns, max(CASE WHEN h.begins THEN h.work_id END) AS work_id, max(CASE WHEN h.begins THEN h.path_id END) AS path_id, max(h.end_ns) AS end_ns,
        sum(greatest(h.end_ns - greatest(h.start_ns, h.until_ns, e.before_ns), 0))::BIGINT AS busy_ns, count(h.work_id) AS n, count(DISTINCT h.work_id) AS names, count(CASE WHEN NOT h.is_replay THEN h.work_id END) AS kernel_count,
        count(CASE WHEN h.work_id IS NULL THEN 1 END) AS memop_count, count(CASE WHEN h.is_replay AND h.duration_ns > 0 THEN 1 END) AS graph_count
    FROM held h JOIN ended e ON e.place = h.place AND e.step_ns = h.step_ns GROUP BY h.place, h.step_ns
), usual AS (
    SELECT s.place, median(s.names) AS names FROM whole s GROUP BY s.place
), spot AS (
    SELECT w.place, any_value(w.source_id) AS source_id, any_value(w.pid) AS pid, any_value(w.device_id) AS device_id FROM _step_work w GROUP BY w.place
), following AS (
    SELECT s.place, s.work_id, s.path_id, s.start_ns, s.end_ns, s.busy_ns, s.kernel_count, s.memop_count, s.graph_count, a.is_replay,
        CASE WHEN s.n < 1.9 * a.period_count AND NOT (s.n > 1.25 * a.period_count AND s.names > 1.2 * u.names) THEN lead(s.start_ns) OVER (PARTITION BY s.place ORDER BY s.start_ns) END AS next_ns
    FROM whole s JOIN usual u ON u.place = s.place JOIN _step_anchor a ON a.place = s.place
)
SELECT t.source_id, t.pid, t.device_id, CASE WHEN f.is_replay THEN 'graph replay' ELSE k.name END AS name, f.path_id, f.start_ns, f.next_ns - f.start_ns AS period_ns,
    CASE WHEN f.next_ns IS NOT NULL THEN f.end_ns - f.start_ns END AS gpu_span_ns, CASE WHEN f.next_ns IS NOT NULL THEN f.busy_ns END AS busy_ns,
    CASE WHEN f.next_ns IS NOT NULL THEN f.kernel_count END AS kernel_count, CASE WHEN f.next_ns IS NOT NULL THEN f.memop_count END AS memop_count, CASE WHEN f.next_ns IS NOT NULL THEN f.graph_count END AS graph_count
FROM following f JOIN spot t ON t.place = f.place
LEFT JOIN kernel_name k ON k.run_id = $run AND k.kernel_name_id = f.work_id
