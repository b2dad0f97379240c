-- _step-period: Steps of the sources without step ranges, from one occurrence of what recurs (_step-anchor) to the next.
-- grain: one step on one GPU
-- key: source_id, pid, device_id, start_ns
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only this GPU
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   source_id: the source
--   pid: process; NULL when the launches were not captured
--   device_id: GPU
--   name: kernel that a step begins with, or graph replay
--   path_id: path of names of the ranges that it was launched in
--   start_ns: its start
--   period_ns: to the next one; NULL for the last step of those that follow each other
--   gpu_span_ns: to the last end of the work that began before the next one; NULL for the last, whose end nothing tells
--   busy_ns: union of the intervals of this work; NULL likewise
--   kernel_count: kernels; NULL likewise
--   memop_count: copies and fills; NULL likewise
--   graph_count: replays whose kernels were not traced; NULL likewise

-- The last step of a pass has the prompt of the next pass behind it, up to the next occurrence: it has 1.9 times as many kernels as
-- the usual step, or 1.25 times as many with 1.2 times as many names. A step that only has more to do has them of the usual names.
WITH a AS MATERIALIZED (
    SELECT row_number() OVER (ORDER BY a.source_id, a.pid, a.device_id) AS place, a.source_id, a.pid, a.device_id, a.is_replay, a.work_id, a.period_count FROM _step_anchor(run, device := device, source := source) a WHERE a.work_id IS NOT NULL
), item AS (
    SELECT a.place, w.start_ns, w.duration_ns, w.work_id, w.is_replay, w.path_id, coalesce(a.work_id = w.work_id AND a.is_replay = w.is_replay, false) AS begins
    FROM _step_work(run, device := device, source := source) w JOIN a ON a.source_id = w.source_id AND a.pid IS NOT DISTINCT FROM w.pid AND a.device_id = w.device_id
), numbered AS ( -- what begins a step comes before other work that starts with it
    SELECT i.place, i.start_ns, i.duration_ns, i.work_id, i.is_replay, i.path_id, i.begins,
        count(CASE WHEN i.begins THEN 1 END) OVER o AS step, max(i.start_ns + i.duration_ns) OVER (o ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until_ns
    FROM item i
    WINDOW o AS (PARTITION BY i.place ORDER BY 2 * i.start_ns - i.begins::INTEGER)
), step AS (
    SELECT n.place, n.step, max(CASE WHEN n.begins THEN n.work_id END) AS work_id, max(CASE WHEN n.begins THEN n.path_id END) AS path_id, min(n.start_ns) AS start_ns, max(n.start_ns + n.duration_ns) AS end_ns,
        sum(greatest(n.start_ns + n.duration_ns - greatest(n.start_ns, coalesce(n.until_ns, n.start_ns)), 0))::BIGINT AS busy_ns, count(n.work_id) AS n, count(DISTINCT n.work_id) AS names, count(CASE WHEN NOT n.is_replay THEN n.work_id END) AS kernel_count,
        count(CASE WHEN n.work_id IS NULL THEN 1 END) AS memop_count, count(CASE WHEN n.is_replay AND n.duration_ns > 0 THEN 1 END) AS graph_count
    FROM numbered n WHERE n.step > 0 GROUP BY ALL
), usual AS (
    SELECT s.place, median(s.names) AS names FROM step s GROUP BY ALL
), following AS (
    SELECT s.place, s.work_id, s.path_id, s.start_ns, s.end_ns, s.busy_ns, s.kernel_count, s.memop_count, s.graph_count, a.source_id, a.pid, a.device_id, a.is_replay,
        CASE WHEN s.n < 1.9 * a.period_count AND NOT (s.n > 1.25 * a.period_count AND s.names > 1.2 * u.names) THEN lead(s.start_ns) OVER (PARTITION BY s.place ORDER BY s.step) END AS next_ns
    FROM step s JOIN usual u ON u.place = s.place JOIN a ON a.place = s.place
)
SELECT f.source_id, f.pid, f.device_id, CASE WHEN f.is_replay THEN 'graph replay' ELSE k.name END AS name, f.path_id, f.start_ns, f.next_ns - f.start_ns AS period_ns,
    CASE WHEN f.next_ns IS NOT NULL THEN f.end_ns - f.start_ns END AS gpu_span_ns, CASE WHEN f.next_ns IS NOT NULL THEN f.busy_ns END AS busy_ns,
    CASE WHEN f.next_ns IS NOT NULL THEN f.kernel_count END AS kernel_count, CASE WHEN f.next_ns IS NOT NULL THEN f.memop_count END AS memop_count, CASE WHEN f.next_ns IS NOT NULL THEN f.graph_count END AS graph_count
FROM following f
LEFT JOIN kernel_name k ON k.run_id = run AND k.kernel_name_id = f.work_id
