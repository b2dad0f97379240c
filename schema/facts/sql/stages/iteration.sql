-- iteration: Forward passes of an engine or a generation loop, with the requests and tokens of each: steps of a stage, and passes of a
--     stage without steps that are one forward pass.
-- grain: one iteration on one GPU
-- key: source_id, pid, device_id, nth
-- needs: step stage_pass
-- columns:
--   nth BIGINT: iteration number within the source, process and GPU, warm-up included, from 1
--   stage VARCHAR: the stage: prefill, decode, mixed or another by stage_rule
--   basis VARCHAR: how it was found: step (a range that is a step), period (the pattern of GPU work) or pass (a pass of a stage)
--   source_id INTEGER: the source
--   pid INTEGER: process; NULL when its launches were not captured
--   tid INTEGER: thread; NULL for periodic steps
--   device_id INTEGER: GPU; NULL without device work
--   range_id BIGINT: the range; NULL for periodic steps
--   name_path_id BIGINT: path whose name it has; NULL for periodic steps
--   prompt_count BIGINT: sequences whose prompts it processes; NULL when unknown, as the next six
--   prompt_token_count BIGINT: their tokens in it
--   prompt_key_count BIGINT: their context, those tokens included
--   decode_count BIGINT: generating sequences
--   decode_token_count BIGINT: their tokens in it: more than sequences where tokens are speculated
--   decode_context_count BIGINT: their context, those tokens included
--   token_count BIGINT: tokens it computes: prompts and decoded
--   start_ns BIGINT: start of its first device work; of the range without any
--   time_ns BIGINT: start of its first device work to that of the next iteration in the same pass, of a prefill to that of the decode that
--     follows; NULL when there is none
--   cpu_ns BIGINT: CPU time of the range; NULL for periodic steps
--   gpu_span_ns BIGINT: GPU span: first start to last end of its device work
--   busy_ns BIGINT: GPU busy time: union of its device intervals
--   idle_ns BIGINT: time in its GPU span in which no work ran on the GPU
--   before_ns BIGINT: end of the device work of all earlier iterations and passes on this GPU to the start of its first: none has work
--     there; 0 when they overlap, NULL for the first
--   kernel_count BIGINT: kernels; NULL where graphs were traced as a whole
--   replay_count BIGINT: graph replays it launched; NULL when launches were not captured
--   eager_count BIGINT: kernels it launched outside graphs; NULL likewise
--   mode VARCHAR: eager (no graph), graph (one replay) or piecewise (several); NULL likewise
--   graph_id BIGINT: the graph of a single replay; NULL otherwise, and when the capture does not name it
--   graph_token_count BIGINT: of decode with one replay: most tokens of an iteration that replayed the same graph: it computes at least as
--     many each time; NULL otherwise
--   is_warmup BOOLEAN: whether it is warm-up or cold, as step and stage_pass say

WITH s AS (
    SELECT
        s.stage,
        CASE s.basis WHEN 'range' THEN 'step' ELSE s.basis END AS basis,
        s.source_id,
        s.pid,
        s.device_id,
        s.range_id,
        s.name_path_id,
        s.start_ns,
        s.period_ns,
        s.until_ns,
        s.cpu_ns,
        s.gpu_span_ns,
        s.busy_ns,
        s.idle_ns,
        s.kernel_count,
        s.graph_count,
        s.decode_count,
        s.token_count,
        s.is_warmup
    FROM step s
    WHERE s.run_id = $run AND s.is_default AND s.stage <> '(none)'
), p AS ( -- a prefill of a plain program is one forward pass; a decode of one step too
    SELECT
        p.stage,
        'pass' AS basis,
        p.source_id,
        p.pid,
        d.device_id,
        p.range_id,
        p.path_id AS name_path_id,
        coalesce(d.first_start_ns, p.start_ns) AS start_ns,
        NULL::BIGINT AS period_ns,
        NULL::BIGINT AS until_ns,
        p.cpu_ns,
        d.last_end_ns - d.first_start_ns AS gpu_span_ns,
        d.busy_ns,
        t.end_ns - t.start_ns - t.kernel_ns - t.graph_ns - t.copy_ns - t.other_ns AS idle_ns,
        d.kernel_count,
        d.graph_count,
        NULL::BIGINT AS decode_count,
        NULL::BIGINT AS token_count,
        p.is_warmup
    FROM stage_pass p
    LEFT JOIN range_device d ON d.run_id = $run AND d.range_id = p.range_id
    LEFT JOIN device_time t
        ON t.run_id = $run AND t.range_id = p.range_id AND t.device_id = d.device_id AND t.source_id = p.source_id
    WHERE p.run_id = $run
        AND (p.stage = 'prefill' OR p.step_count = 1)
        AND NOT EXISTS (
            SELECT 1
            FROM s
            WHERE s.source_id = p.source_id AND s.pid IS NOT DISTINCT FROM p.pid AND s.stage = p.stage
        )
), other AS ( -- passes of several forward passes that nothing marks: what comes before and after them does not reach across
    SELECT
        p.stage,
        p.source_id,
        p.pid,
        d.device_id,
        p.range_id,
        d.first_start_ns AS start_ns,
        d.last_end_ns - d.first_start_ns AS gpu_span_ns
    FROM stage_pass p JOIN range_device d ON d.run_id = $run AND d.range_id = p.range_id
    WHERE p.run_id = $run
        AND NOT EXISTS (
            SELECT 1
            FROM s
            WHERE s.source_id = p.source_id AND s.pid IS NOT DISTINCT FROM p.pid AND s.stage = p.stage
        )
        AND NOT EXISTS (SELECT 1 FROM p q WHERE q.range_id = p.range_id)
), i AS (
    SELECT
        count(*) FILTER (i.basis <> 'other') OVER (
            PARTITION BY i.source_id, i.pid, i.device_id
            ORDER BY i.start_ns, i.range_id, i.stage
            ROWS UNBOUNDED PRECEDING
        ) AS nth,
        i.stage,
        i.basis,
        i.source_id,
        i.pid,
        r.tid,
        i.device_id,
        i.range_id,
        i.name_path_id,
        i.start_ns,
        i.until_ns,
        coalesce(
            i.period_ns,
            CASE
                WHEN i.basis = 'pass' AND i.stage = 'prefill' AND lead(i.stage) OVER own = 'decode'
                    THEN nullif(lead(i.start_ns) OVER own - i.start_ns, 0)
            END
        ) AS time_ns,
        i.cpu_ns,
        i.gpu_span_ns,
        i.busy_ns,
        i.idle_ns,
        max(i.start_ns + i.gpu_span_ns) OVER (g ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS earlier_ns,
        i.kernel_count,
        i.graph_count,
        i.is_warmup,
        coalesce(
            CASE WHEN f.basis IS NOT NULL THEN f.prompt_count WHEN i.token_count IS NOT NULL THEN 0 END,
            a.prompt_count
        ) AS prompt_count,
        coalesce(
            CASE WHEN f.basis IS NOT NULL THEN f.prompt_token_count WHEN i.token_count IS NOT NULL THEN 0 END,
            a.prompt_token_count
        ) AS prompt_token_count,
        f.prompt_key_count,
        coalesce(
            CASE WHEN f.basis IS NOT NULL THEN f.decode_count ELSE i.decode_count END,
            a.decode_count
        ) AS decode_count,
        coalesce(
            CASE WHEN f.basis IS NOT NULL THEN f.decode_token_count ELSE i.token_count END,
            a.decode_token_count
        ) AS decode_token_count,
        f.decode_context_count
    FROM (
        SELECT
            s.stage,
            s.basis,
            s.source_id,
            s.pid,
            s.device_id,
            s.range_id,
            s.name_path_id,
            s.start_ns,
            s.period_ns,
            s.until_ns,
            s.cpu_ns,
            s.gpu_span_ns,
            s.busy_ns,
            s.idle_ns,
            s.kernel_count,
            s.graph_count,
            s.decode_count,
            s.token_count,
            s.is_warmup
        FROM s
        UNION ALL
        SELECT
            p.stage,
            p.basis,
            p.source_id,
            p.pid,
            p.device_id,
            p.range_id,
            p.name_path_id,
            p.start_ns,
            p.period_ns,
            p.until_ns,
            p.cpu_ns,
            p.gpu_span_ns,
            p.busy_ns,
            p.idle_ns,
            p.kernel_count,
            p.graph_count,
            p.decode_count,
            p.token_count,
            p.is_warmup
        FROM p
        UNION ALL
        SELECT
            o.stage,
            'other',
            o.source_id,
            o.pid,
            o.device_id,
            o.range_id,
            NULL,
            o.start_ns,
            NULL,
            NULL,
            NULL,
            o.gpu_span_ns,
            NULL,
            NULL,
            NULL,
            NULL,
            NULL,
            NULL,
            NULL
        FROM other o
    ) i
    LEFT JOIN nvtx_range r ON r.run_id = $run AND r.range_id = i.range_id
    LEFT JOIN stage_pass f ON f.run_id = $run AND f.range_id = i.range_id
    LEFT JOIN _annotation a ON a.range_id = i.range_id -- names that say requests and not tokens
    WINDOW g AS (PARTITION BY i.source_id, i.device_id ORDER BY i.start_ns, i.pid, i.range_id, i.stage),
        own AS (PARTITION BY i.source_id, i.pid, i.device_id ORDER BY i.start_ns, i.range_id, i.stage)
), launched AS ( -- iterations that could have launched a replay: the latest to begin on its thread, or on its GPU where there is no range
    SELECT i.source_id, i.pid, i.device_id, i.nth, g.graph_id, g.kernel_count, g.mode
    FROM (
        SELECT
            g.source_id,
            g.pid,
            g.tid,
            g.device_id,
            g.launch_start_ns,
            g.graph_id,
            g.kernel_count,
            g.mode
        FROM graph_launch g
        WHERE g.run_id = $run AND g.tid IS NOT NULL
    ) g
    ASOF JOIN (
        SELECT
            i.source_id,
            i.pid,
            i.tid,
            i.device_id,
            i.nth,
            r.start_ns,
            r.start_ns + r.duration_ns AS end_ns
        FROM i JOIN nvtx_range r ON r.run_id = $run AND r.range_id = i.range_id
        WHERE i.basis <> 'other'
    ) i
        ON i.source_id = g.source_id
        AND i.pid = g.pid
        AND i.tid = g.tid
        AND i.device_id = g.device_id
        AND g.launch_start_ns >= i.start_ns
    WHERE g.launch_start_ns < i.end_ns
    UNION ALL
    SELECT i.source_id, i.pid, i.device_id, i.nth, g.graph_id, g.kernel_count, g.mode
    FROM (
        SELECT g.source_id, g.pid, g.device_id, g.start_ns, g.graph_id, g.kernel_count, g.mode
        FROM graph_launch g
        WHERE g.run_id = $run AND NOT (g.launch_start_ns IS NULL AND g.launch_name_id IS NOT NULL)
    ) g -- a kernel launched the others
    ASOF JOIN (
        SELECT i.source_id, i.pid, i.device_id, i.nth, i.start_ns, i.until_ns
        FROM i
        WHERE i.basis = 'period'
    ) i ON i.source_id = g.source_id AND i.pid = g.pid AND i.device_id = g.device_id AND g.start_ns >= i.start_ns
    WHERE i.until_ns IS NULL OR g.start_ns < i.until_ns
), graph AS (
    SELECT
        l.source_id,
        l.pid,
        l.device_id,
        l.nth,
        count(*) AS replay_count,
        coalesce(sum(l.kernel_count) FILTER (l.mode = 'node'), 0)::BIGINT AS kernel_count,
        CASE WHEN count(*) = 1 THEN any_value(l.graph_id) END AS graph_id
    FROM launched l
    GROUP BY l.source_id, l.pid, l.device_id, l.nth
), blind AS ( -- where a replay has no launch, none can be counted
    SELECT DISTINCT g.source_id, g.device_id
    FROM graph_launch g
    WHERE g.run_id = $run AND g.tid IS NULL AND g.launch_name_id IS NULL
), q AS (
    SELECT
        i.nth,
        i.stage,
        i.basis,
        i.source_id,
        i.pid,
        i.tid,
        i.device_id,
        i.range_id,
        i.name_path_id,
        i.prompt_count,
        i.prompt_token_count,
        i.prompt_key_count,
        i.decode_count,
        i.decode_token_count,
        i.decode_context_count,
        i.prompt_token_count + i.decode_token_count AS token_count,
        i.start_ns,
        i.time_ns,
        i.cpu_ns,
        i.gpu_span_ns,
        i.busy_ns,
        i.idle_ns,
        CASE
            WHEN i.start_ns >= i.earlier_ns THEN i.start_ns - i.earlier_ns
            WHEN i.earlier_ns IS NOT NULL THEN 0
        END AS before_ns,
        CASE WHEN i.graph_count = 0 THEN i.kernel_count END AS kernel_count,
        CASE
            WHEN x.range_id IS NULL AND (b.source_id IS NULL OR i.basis = 'period') THEN coalesce(g.replay_count, 0)
        END AS replay_count,
        i.kernel_count - coalesce(g.kernel_count, 0) AS eager_count,
        g.graph_id,
        i.is_warmup
    FROM i
    LEFT JOIN graph g
        ON g.source_id = i.source_id
        AND g.pid IS NOT DISTINCT FROM i.pid
        AND g.device_id = i.device_id
        AND g.nth = i.nth
    LEFT JOIN blind b ON b.source_id = i.source_id AND b.device_id = i.device_id
    LEFT JOIN _range_loss x ON x.range_id = i.range_id
    WHERE i.basis <> 'other'
)
SELECT
    q.nth,
    q.stage,
    q.basis,
    q.source_id,
    q.pid,
    q.tid,
    q.device_id,
    q.range_id,
    q.name_path_id,
    q.prompt_count,
    q.prompt_token_count,
    q.prompt_key_count,
    q.decode_count,
    q.decode_token_count,
    q.decode_context_count,
    q.token_count,
    q.start_ns,
    q.time_ns,
    q.cpu_ns,
    q.gpu_span_ns,
    q.busy_ns,
    q.idle_ns,
    q.before_ns,
    q.kernel_count,
    q.replay_count,
    CASE WHEN q.replay_count IS NOT NULL THEN q.eager_count END AS eager_count,
    CASE
        WHEN q.replay_count = 0 THEN 'eager'
        WHEN q.replay_count = 1 THEN 'graph'
        WHEN q.replay_count > 1 THEN 'piecewise'
    END AS mode,
    q.graph_id,
    CASE
        WHEN q.stage = 'decode' AND q.replay_count = 1 AND q.graph_id IS NOT NULL
            THEN max(CASE WHEN q.stage = 'decode' AND q.replay_count = 1 THEN q.token_count END) OVER (
                PARTITION BY q.source_id, q.pid, q.device_id, q.graph_id
            )
    END AS graph_token_count,
    q.is_warmup
FROM q
