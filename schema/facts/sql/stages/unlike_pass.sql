-- unlike_pass: Passes that do other work than the others of their stage, such as a warm-up that decodes 4 of 32 tokens: they are set apart.
-- grain: one pass
-- key: range_id
-- needs: _stage_range
-- columns:
--   range_id BIGINT: the pass
--   measure VARCHAR: what its work is compared by: kernel, or graph replay where the stage's graphs were traced as a whole
--   work_count BIGINT: how many it has
--   usual_count DOUBLE: median of the passes of the stage in its process

-- Variety is no fault: of engines that batch, of prompts and steps of several lengths. A pass is found only where three quarters of the
-- passes of its process, and three or more, are alike (within a tenth of the median), and it has twice as much work or half as much, or
-- more so. Nothing is found where tokens are known of the passes by themselves: by the names of their ranges, or by a workload that lists
-- passes of several sizes or says which are warm-up. Of ranks that pass through a stage together, one with more work is late, and the pass
-- is like the others; where all have other work, it is another pass. A pass without any work is not compared: its records may be lost.
WITH said AS (
    SELECT e.kind
    FROM workload_entry e
    WHERE e.run_id = $run AND e.kind IS NOT NULL
    GROUP BY e.kind
    HAVING count(e.warmup_count) > 0
        OR count(DISTINCT (e.prefill_count, e.decode_count, e.batch_count, e.image_count, e.crop_count)) > 1
    UNION ALL
    SELECT t.kind
    FROM _said_pass f
    JOIN _stage_range r ON r.range_id = f.range_id
    JOIN timeline t ON t.run_id = $run AND t.source_id = r.source_id
    WHERE f.is_warmup
), p AS (
    SELECT
        r.range_id,
        r.stage,
        r.source_id,
        r.pid,
        t.kind,
        coalesce(x.repeat_id, 1) AS repeat_id,
        r.stage_count - r.back_count + 1 AS nth,
        r.stage_count AS passes,
        CASE WHEN max(r.graph_count) OVER own > 0 THEN 'graph replay' ELSE 'kernel' END AS measure,
        nullif(CASE WHEN max(r.graph_count) OVER own > 0 THEN r.graph_count ELSE r.kernel_count END, 0) AS work
    FROM _stage_range r
    JOIN timeline t ON t.run_id = $run AND t.source_id = r.source_id
    LEFT JOIN _source_repeat x ON x.source_id = r.source_id
    LEFT JOIN _annotation a ON a.range_id = r.range_id
    WHERE NOT r.is_ruled AND r.stage_count > 3 AND a.range_id IS NULL AND t.kind NOT IN (SELECT s.kind FROM said s)
    WINDOW own AS (PARTITION BY r.stage, r.source_id, r.pid)
), usual AS (
    SELECT
        p.stage,
        p.source_id,
        p.pid,
        median(p.work) AS work
    FROM p
    GROUP BY p.stage, p.source_id, p.pid
    HAVING median(p.work) > 0
), steady AS (
    SELECT p.stage, p.source_id, p.pid, u.work
    FROM p JOIN usual u ON u.stage = p.stage AND u.source_id = p.source_id AND u.pid = p.pid
    GROUP BY p.stage, p.source_id, p.pid, u.work
    HAVING count(CASE WHEN abs(p.work - u.work) <= 0.1 * u.work THEN 1 END) >= greatest(3, 0.75 * count(*))
), judged AS (
    SELECT
        p.range_id,
        p.measure,
        p.work,
        s.work AS usual,
        bool_and(coalesce(p.work >= 2 * s.work OR 2 * p.work <= s.work, false)) OVER (
            PARTITION BY p.kind, p.repeat_id, p.stage, p.passes, p.nth
        ) AS is_unlike
    FROM p LEFT JOIN steady s ON s.stage = p.stage AND s.source_id = p.source_id AND s.pid = p.pid
)
SELECT
    j.range_id,
    j.measure,
    j.work AS work_count,
    j.usual AS usual_count
FROM judged j
WHERE j.is_unlike
