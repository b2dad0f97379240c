-- stack_sum: Device work, idle time and CPU time by Python stack.
-- grain: one Python stack, GPU and stage in a source; CPU time is on rows without a GPU
-- key: source_id, device_id, stage, stack_id
-- needs: python_stack
-- columns:
--   source_id INTEGER: the source
--   device_id INTEGER: GPU; NULL for CPU time
--   stage VARCHAR: stage of the launch or of the call; for idle time that of the work after; (none) outside every stage
--   stack_id BIGINT: the stack; 0 outside every Python function, NULL when not recorded: the source has no stacks, the launch was not captured, or the gap is none of those in gap
--   work_count BIGINT: kernels, copies, fills and replays traced as a whole that were launched in it
--   device_ns BIGINT: sum of their durations
--   backward_count BIGINT: pieces of device work launched outside Python by backward operators, as autograd's own threads do, of forward operators called in it
--   backward_device_ns BIGINT: sum of their durations
--   gap_count BIGINT: idle gaps spent in it, as in gap_stack
--   idle_ns BIGINT: sum of their durations
--   call_count BIGINT: calls of its innermost function
--   cpu_ns BIGINT: time in these calls, excluding Python functions called inside them

WITH RECURSIVE work AS (
    SELECT k.source_id, k.device_id, k.path_id, k.stack_id, CASE WHEN k.stack_id = 0 THEN k.op_id END AS op_id, count(*) AS work_count, sum(k.duration_ns) AS total_ns FROM kernel k WHERE k.run_id = $run GROUP BY ALL
    UNION ALL
    SELECT m.source_id, m.device_id, m.path_id, m.stack_id, CASE WHEN m.stack_id = 0 THEN m.op_id END, count(*), sum(m.duration_ns) FROM memop m WHERE m.run_id = $run GROUP BY ALL
    UNION ALL
    SELECT l.source_id, l.device_id, l.path_id, l.stack_id, NULL, count(*), sum(l.duration_ns) FROM graph_launch l WHERE l.run_id = $run AND l.mode = 'graph' GROUP BY ALL
), around AS ( -- from the operator outwards, to the first that is known to be a backward one
    SELECT DISTINCT w.op_id AS leaf_op_id, o.parent_op_id, o.forward_op_id FROM work w JOIN op o ON o.run_id = $run AND o.op_id = w.op_id
    UNION ALL
    SELECT a.leaf_op_id, o.parent_op_id, o.forward_op_id FROM around a JOIN op o ON o.run_id = $run AND o.op_id = a.parent_op_id WHERE a.forward_op_id IS NULL
), backward AS (
    SELECT a.leaf_op_id, f.stack_id FROM around a JOIN op f ON f.run_id = $run AND f.op_id = a.forward_op_id WHERE f.stack_id > 0
), stacked AS (
    SELECT DISTINCT w.source_id FROM work w WHERE w.stack_id IS NOT NULL
), kept AS (
    SELECT g.source_id, g.device_id, g.path_id, CASE WHEN g.tid IS NOT NULL AND g.source_id IN (SELECT x.source_id FROM stacked x) THEN coalesce(s.stack_id, 0) END AS stack_id, g.duration_ns
    FROM gap g LEFT JOIN gap_stack s ON s.run_id = g.run_id AND s.source_id = g.source_id AND s.device_id = g.device_id AND s.start_ns = g.start_ns
    WHERE g.run_id = $run
), part AS (
    SELECT w.source_id, w.device_id, w.path_id, coalesce(b.stack_id, w.stack_id) AS stack_id, CASE WHEN b.stack_id IS NULL THEN w.work_count END AS work_count, CASE WHEN b.stack_id IS NULL THEN w.total_ns END AS device_ns,
        CASE WHEN b.stack_id IS NOT NULL THEN w.work_count END AS backward_count, CASE WHEN b.stack_id IS NOT NULL THEN w.total_ns END AS backward_device_ns
    FROM work w LEFT JOIN backward b ON b.leaf_op_id = w.op_id
    UNION ALL BY NAME
    SELECT k.source_id, k.device_id, k.path_id, k.stack_id, count(*) AS gap_count, sum(k.duration_ns) AS idle_ns FROM kept k GROUP BY ALL
    UNION ALL BY NAME -- of all gaps, those that gap does not hold
    SELECT a.source_id, a.device_id, a.path_id, NULL AS stack_id, sum(a.gap_count) AS gap_count, sum(a.duration_ns) AS idle_ns
    FROM (
        SELECT s.source_id, s.device_id, s.path_id, s.gap_count, s.duration_ns FROM gap_sum s WHERE s.run_id = $run
        UNION ALL
        SELECT k.source_id, k.device_id, k.path_id, -1, -k.duration_ns FROM kept k
    ) a
    GROUP BY a.source_id, a.device_id, a.path_id
    HAVING sum(a.duration_ns) <> 0
    UNION ALL BY NAME
    SELECT c.source_id, NULL::INTEGER AS device_id, c.path_id, c.stack_id, count(*) AS call_count, sum(c.self_cpu_ns) AS cpu_ns FROM python_call c WHERE c.run_id = $run GROUP BY ALL
)
SELECT p.source_id, p.device_id, coalesce(s.stage, '(none)') AS stage, p.stack_id, coalesce(sum(p.work_count), 0)::BIGINT AS work_count, coalesce(sum(p.device_ns), 0)::BIGINT AS device_ns,
    coalesce(sum(p.backward_count), 0)::BIGINT AS backward_count, coalesce(sum(p.backward_device_ns), 0)::BIGINT AS backward_device_ns, coalesce(sum(p.gap_count), 0)::BIGINT AS gap_count,
    coalesce(sum(p.idle_ns), 0)::BIGINT AS idle_ns, coalesce(sum(p.call_count), 0)::BIGINT AS call_count, coalesce(sum(p.cpu_ns), 0)::BIGINT AS cpu_ns
FROM part p LEFT JOIN path_stage s ON s.run_id = $run AND s.path_id = p.path_id
GROUP BY p.source_id, p.device_id, coalesce(s.stage, '(none)'), p.stack_id
