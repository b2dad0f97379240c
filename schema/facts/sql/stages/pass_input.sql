-- pass_input: The input that each stage pass worked on, where the workload says it for certain.
-- grain: one outermost range of a stage
-- key: range_id
-- needs: capture_input
-- columns:
--   range_id BIGINT: the pass
--   input VARCHAR: id of the input, as in capture_input

-- By prof's helper, where it timed the very execution, or by the facts of the workload, whose passes are those of the timeline counted from
-- the last one. These are of one process: in a recording with passes of several, which of them worked on what is not known. Nor is it where
-- the timeline has fewer passes than the facts, or where its steps contradict them.
WITH said AS ( -- each node of a job by itself
    SELECT
        e.kind,
        e.node_rank,
        e.is_own,
        max(e.back_count) FILTER (NOT e.is_warmup) AS listed
    FROM workload_entry e
    WHERE e.run_id = $run AND e.back_count > 0
    GROUP BY e.kind, e.node_rank, e.is_own
    HAVING count(e.input) > 0
), r AS ( -- where the facts are of the whole job, what its nodes recorded at once is one
    SELECT
        t.kind,
        h.node_rank,
        s.listed,
        CASE
            WHEN h.node_rank IS NULL THEN coalesce(c.pass_id, -r.series_id)::VARCHAR
            WHEN s.is_own THEN c.pass_id::VARCHAR
            ELSE h.recording
        END AS recording,
        r.stage,
        r.range_id,
        r.series_id,
        r.pid,
        r.back_count,
        r.stage_count,
        r.prefill_count,
        r.nth_prefill_count
    FROM _stage_range r
    JOIN timeline t ON t.run_id = $run AND t.source_id = r.source_id
    LEFT JOIN source_host h ON h.run_id = $run AND h.source_id = r.source_id
    LEFT JOIN capture_source c ON c.run_id = $run AND c.captured_source_id = r.source_id
    JOIN said s ON s.kind = t.kind AND s.node_rank IS NOT DISTINCT FROM h.node_rank
    WHERE NOT r.is_ruled
), sure AS (
    SELECT r.recording
    FROM r LEFT JOIN _said_pass p ON p.range_id = r.range_id
    GROUP BY r.recording
    HAVING count(DISTINCT (r.series_id, r.pid)) = 1 AND NOT bool_or(coalesce(p.is_contradicted, false))
), placed AS (
    SELECT
        r.kind,
        r.node_rank,
        r.range_id,
        CASE
            WHEN r.stage = 'decode' AND r.prefill_count NOT IN (0, r.stage_count)
                THEN r.prefill_count - r.nth_prefill_count + 1
            WHEN r.stage_count = r.prefill_count OR r.stage = 'decode' AND r.stage_count = r.listed THEN r.back_count
        END AS place
    FROM r JOIN sure ON sure.recording = r.recording
    WHERE CASE WHEN r.prefill_count > 0 THEN r.prefill_count ELSE r.stage_count END >= r.listed
), told AS (
    SELECT t.range_id, t.input, 1 AS quality
    FROM _stage_timed t
    WHERE t.range_id IS NOT NULL AND t.input IS NOT NULL
    UNION ALL
    SELECT p.range_id, e.input, 2
    FROM placed p
    JOIN (
        SELECT
            e.kind,
            e.node_rank,
            e.back_count,
            min(e.input) AS input
        FROM workload_entry e
        WHERE e.run_id = $run
        GROUP BY e.kind, e.node_rank, e.back_count
        HAVING count(e.input) = count(*) AND min(e.input) = max(e.input)
    ) e ON e.kind = p.kind AND e.node_rank IS NOT DISTINCT FROM p.node_rank AND e.back_count = p.place
)
SELECT
    t.range_id,
    arg_min(t.input, t.quality) AS input
FROM told t
WHERE t.input IN (
        SELECT i.input
        FROM capture_input i
        WHERE i.run_id = $run
        GROUP BY i.input
        HAVING count(DISTINCT coalesce(i.sha256, i.path)) = 1
    ) -- nodes of a job may mean different files
GROUP BY t.range_id
