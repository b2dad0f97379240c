-- _stage_timed: Each execution of a stage that prof's helper timed, with its place among those of its process, and the range of the
--     timeline that it is.
-- grain: one execution
-- key: pass_id, pid, execution_id
-- needs: stage_execution
-- columns:
--   pass_id INTEGER: the recording
--   tool VARCHAR: its tool; none for none
--   mode VARCHAR: mode of the tool
--   repeat_id INTEGER: number among the recordings of the tool
--   pid INTEGER: process
--   execution_id BIGINT: number in the process
--   member_id BIGINT: the process among those of its recording, the same in each: its rank, else its place by pid
--   stage VARCHAR: the stage, by stage_rule
--   place_id BIGINT: number among the executions of the stage in the process, from 1
--   is_warmup BOOLEAN: whether it is warm-up: by the helper, by a rule, or because its range in the timeline is
--   range_id BIGINT: its range; NULL where the timeline does not have all executions
--   is_unseen BOOLEAN: whether the GPU worked longer in the range than the events say: its work was on streams that they do not wait for
--   batch_count BIGINT: sequences; NULL when unknown
--   token_count BIGINT: tokens of each prompt, or decode steps; NULL when unknown
--   input VARCHAR: input that it worked on, as the workload says; NULL when not said
--   cpu_ns BIGINT: host clock
--   gpu_ns BIGINT: CUDA events; NULL when not measured

-- A timeline has the executions of a process all, or, where the profiler began at the first that is no warm-up, all of these. Otherwise it
-- is of a window, and which executions are in it is not known. Events are rounded to some hundred nanoseconds.
WITH x AS (
    SELECT
        e.pass_id,
        p.tool,
        p.mode,
        p.repeat_id,
        e.pid,
        e.execution_id,
        e.path,
        coalesce(
            e.rank_id,
            e.pass_id // 1000 * 1000 + dense_rank() OVER (PARTITION BY e.pass_id ORDER BY e.pid) - 1
        )::BIGINT AS member_id,
        s.stage,
        e.is_warmup OR s.is_warmup AS is_warmup,
        e.batch_count,
        e.token_count,
        e.input,
        e.cpu_ns,
        e.gpu_ns
    FROM stage_execution e
    JOIN capture_pass p ON p.run_id = e.run_id AND p.pass_id = e.pass_id AND p.status = 'ok'
    JOIN (
        SELECT
            r.path,
            min(r.path_id) AS path_id
        FROM range_path r
        WHERE r.run_id = $run AND r.domain = ''
        GROUP BY r.path
    ) r ON r.path = e.path
    JOIN path_stage s ON s.run_id = e.run_id AND s.path_id = r.path_id AND s.stage_path_id = s.path_id
    WHERE e.run_id = $run
), n AS (
    SELECT
        x.pass_id,
        x.tool,
        x.mode,
        x.repeat_id,
        x.pid,
        x.execution_id,
        x.path,
        x.member_id,
        x.stage,
        x.is_warmup,
        x.batch_count,
        x.token_count,
        x.input,
        x.cpu_ns,
        x.gpu_ns,
        row_number() OVER (PARTITION BY x.pass_id, x.pid, x.stage ORDER BY x.execution_id) AS place_id,
        count(*) OVER (PARTITION BY x.pass_id, x.pid, x.stage) AS place_count,
        sum(CASE WHEN x.is_warmup THEN 0 ELSE 1 END) OVER (
            PARTITION BY x.pass_id, x.pid, x.stage
            ORDER BY x.execution_id
            ROWS UNBOUNDED PRECEDING
        )::BIGINT AS steady_id,
        count(CASE WHEN NOT x.is_warmup THEN 1 END) OVER (PARTITION BY x.pass_id, x.pid, x.stage) AS steady_count
    FROM x
), r AS (
    SELECT
        c.pass_id,
        s.pid,
        s.stage,
        s.range_id,
        s.is_warmup,
        s.gpu_span_ns,
        p.path,
        s.pass_id AS nth,
        count(*) OVER (PARTITION BY c.pass_id, s.source_id, s.pid, s.stage) AS nths,
        count(*) OVER (PARTITION BY c.pass_id, s.pid, s.stage, s.pass_id) AS twice
    FROM stage_pass s
    JOIN capture_source c ON c.run_id = s.run_id AND c.captured_source_id = s.source_id
    JOIN range_path p ON p.run_id = s.run_id AND p.path_id = s.path_id
    WHERE s.run_id = $run
)
SELECT
    n.pass_id,
    n.tool,
    n.mode,
    n.repeat_id,
    n.pid,
    n.execution_id,
    n.member_id,
    n.stage,
    n.place_id,
    n.is_warmup OR coalesce(r.is_warmup, false) AS is_warmup,
    r.range_id,
    coalesce(n.gpu_ns < 0.98 * r.gpu_span_ns - 20000, false) AS is_unseen,
    n.batch_count,
    n.token_count,
    n.input,
    n.cpu_ns,
    n.gpu_ns
FROM n
LEFT JOIN r
    ON r.pass_id = n.pass_id
    AND r.pid = n.pid
    AND r.stage = n.stage
    AND r.twice = 1
    AND ends_with(' > ' || r.path, ' > ' || n.path)
    AND CASE
        WHEN r.nths = n.place_count THEN r.nth = n.place_id
        ELSE r.nths = n.steady_count AND r.nth = n.steady_id AND NOT n.is_warmup
    END
