-- _step_range: Ranges that are steps, with the step that follows each one and the tokens decoded in it.
-- grain: one step
-- key: range_id
-- needs: _step_path
-- columns:
--   range_id BIGINT: the range
--   source_id INTEGER: the source
--   pid INTEGER: process
--   tid INTEGER: thread
--   stage VARCHAR: stage, by stage_rule; NULL when in none
--   name_path_id BIGINT: its name, as in _step_path
--   start_ns BIGINT: CPU start time
--   cpu_ns BIGINT: CPU time; NULL when it never ended
--   next_range_id BIGINT: the next step on its thread, where it is in the same pass and no pass of a stage begins between; NULL for the
--     last
--   is_warmup BOOLEAN: whether a warm-up rule matches, the workload says so, or its pass or one inside it was found cold
--   decode_count BIGINT: generating sequences; NULL when not known
--   token_count BIGINT: tokens decoded, all sequences together; NULL when unknown

-- The tokens of a pass are those of its steps in equal parts, where the workload lists as many steps as there are ranges.
WITH beside AS ( -- passes that hold steps or stand between them; those inside a step part nothing
    SELECT s.path_id
    FROM path_stage s JOIN range_path r ON r.run_id = s.run_id AND r.path_id = s.path_id
    WHERE s.run_id = $run
        AND s.stage_path_id = s.path_id
        AND NOT list_has_any(r.lineage, (SELECT list(p.path_id) FROM _step_path p))
), n AS (
    SELECT
        n.range_id,
        n.source_id,
        n.pid,
        n.tid,
        n.path_id,
        n.parent_range_id,
        n.start_ns,
        n.duration_ns
    FROM nvtx_range n
    WHERE n.run_id = $run
        AND n.source_id IN (SELECT t.source_id FROM timeline t WHERE t.run_id = $run)
        AND n.path_id IN (
            SELECT p.path_id
            FROM _step_path p
            UNION ALL
            SELECT b.path_id
            FROM beside b
        )
), held AS (
    SELECT
        n.range_id,
        n.source_id,
        n.pid,
        n.tid,
        p.stage,
        p.name_path_id,
        n.start_ns,
        n.duration_ns,
        p.is_warmup,
        p.path_id IS NOT NULL AS is_step,
        CASE WHEN p.stage_path_id = n.path_id THEN n.range_id ELSE b.range_id END AS pass_range_id,
        CASE WHEN p.stage_path_id <> n.path_id THEN b.range_id ELSE n.parent_range_id END AS in_range_id
    FROM n
    LEFT JOIN _step_path p ON p.path_id = n.path_id
    ASOF LEFT JOIN n b
        ON b.source_id = n.source_id
        AND b.pid = n.pid
        AND b.tid = n.tid
        AND b.path_id = p.stage_path_id
        AND b.start_ns <= n.start_ns
), following AS (
    SELECT
        h.range_id,
        h.source_id,
        h.pid,
        h.tid,
        h.stage,
        h.name_path_id,
        h.start_ns,
        h.duration_ns,
        h.is_warmup,
        h.is_step,
        h.pass_range_id,
        count(*) OVER (PARTITION BY h.pass_range_id) AS in_pass,
        lead({'range_id': h.range_id, 'is_step': h.is_step, 'in_range_id': h.in_range_id}) OVER (
            PARTITION BY h.source_id, h.pid, h.tid
            ORDER BY h.start_ns, h.range_id
        ) AS after,
        h.in_range_id
    FROM held h
), warm AS ( -- steps that hold a pass which is left out
    SELECT DISTINCT x.range_id
    FROM (
        SELECT f.source_id, f.pid, n.tid, f.start_ns
        FROM stage_pass f JOIN nvtx_range n ON n.run_id = f.run_id AND n.range_id = f.range_id
        WHERE f.run_id = $run AND f.is_warmup
    ) f
    ASOF JOIN (
        SELECT
            h.range_id,
            h.source_id,
            h.pid,
            h.tid,
            h.start_ns,
            h.start_ns + h.duration_ns AS end_ns
        FROM held h
        WHERE h.is_step
    ) x ON x.source_id = f.source_id AND x.pid = f.pid AND x.tid = f.tid AND x.start_ns <= f.start_ns
    WHERE f.start_ns < x.end_ns
)
SELECT
    x.range_id,
    x.source_id,
    x.pid,
    x.tid,
    x.stage,
    x.name_path_id,
    x.start_ns,
    x.duration_ns AS cpu_ns,
    CASE
        WHEN x.after.is_step AND x.after.in_range_id IS NOT DISTINCT FROM x.in_range_id THEN x.after.range_id
    END AS next_range_id,
    x.is_warmup OR coalesce(f.is_warmup, false) OR w.range_id IS NOT NULL AS is_warmup,
    f.decode_count,
    CASE
        WHEN f.range_id = x.range_id THEN f.decode_token_count
        WHEN f.step_count = x.in_pass THEN f.decode_token_count // f.step_count
    END AS token_count
FROM following x
LEFT JOIN stage_pass f ON f.run_id = $run AND f.range_id = x.pass_range_id
LEFT JOIN warm w ON w.range_id = x.range_id
WHERE x.is_step
