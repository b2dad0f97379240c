-- tpot-causes v3: What the time between two decode steps of an engine is made of, which is its own time per output token: GPU work, idle
--     time by cause, prefills between them, and time between iterations; with the client's TPOT.
-- grain: one cause in one kind of iteration, of one process and GPU
-- key: source_id, pid, device, kind, cause
-- notes: tpot stage timelines workload launch range
-- params:
--   run VARCHAR: the run
--   device BIGINT = NULL: only this GPU
--   {source}
-- columns:
--   kind: iteration in whose GPU span the time lies: decode, mixed or prefill (of prompts alone, between two that decode); between: from
--     the end of an iteration's work to the start of the next one's
--   cause: GPU work: kernel, collective (and no other kernel; in kernel where the iteration is no stage pass), graph (replays traced as a
--     whole), copy (and neither), work (kernels, graphs and copies together, where the capture has only the busy time of an iteration and
--     not these parts of it), other (not of this iteration); idle as in accounting: {causes} (unknown: launch not captured, or cause not
--     stored); overlap: less than 0, what iterations at work at once share, as each has it in its span
--   time_ns: time of all steps; all rows of a process and GPU add up to step_count x step_mean_ns exactly
--   per_step_ns: time_ns / step_count
--   per_token_ns: likewise per token, as clients see it: each step counts as often as sequences decode in it; all rows of a process and
--     GPU add up to token_mean_ns; NULL where that is unknown for any step
--   share_ratio: time_ns as a share of the sum of time_ns
--   iteration_count: iterations of the kind in these steps; NULL between
--   step_count: steps: start of a decode or mixed iteration's first device work to that of the next one; over prefills only where some
--     sequence went on, warm-up excluded
--   step_mean_ns: mean time of a step: the engine's own time per output token, where each sequence gets one token in each iteration
--   token_mean_ns: mean time of a step over the tokens that clients got in it: the engine's own time per output token, under the tracer
--   all_token_mean_ns: token_mean_ns of all processes and GPUs of the source together, by tokens, also with device: what a client
--     compares with, whose requests go to any of them; NULL where that is unknown for any
--   client_tpot_ns: mean TPOT of the benchmark of the run, as the client measured it; NULL without one, and with several
--   window_tpot_ns: mean time between two tokens of a request at the client, of tokens within the recorded window; NULL where its result
--     does not say when tokens came (vllm bench serve: --save-detailed)
--   window_ttft_ns: mean TTFT at the client, of requests whose first token came within the recorded window; NULL likewise
--   outside_ns: client's time per token (window_tpot_ns, else client_tpot_ns) - the engine's (all_token_mean_ns, else step_mean_ns): time
--     outside the captured steps; without window_tpot_ns less what the profiler added; NULL where tokens are speculated
--   source_id: the source
--   pid: process
--   device: GPU

-- Long: parts of steps, idle time between them and what the client measured come from tables of their own, and must add up.
WITH x AS (
    SELECT
        x.source_id,
        x.pid,
        x.device_id,
        x.nth,
        x.stage,
        x.basis,
        x.range_id,
        x.start_ns,
        x.end_ns,
        x.next_ns,
        x.busy_ns,
        x.idle_ns,
        x.is_speculated,
        x.is_step,
        x.sequence_count
    FROM _tpot_step(run, device := device, source := source) x
), fine AS ( -- the parts of its span, as step and device_time have them
    SELECT
        x.source_id,
        x.pid,
        x.device_id,
        x.nth,
        p.kernel_ns,
        p.graph_ns,
        p.copy_ns{{range .Causes}},
        p.{{.Column}}{{end}}
    FROM x
    JOIN step p
        ON p.run_id = run
        AND p.is_default
        AND p.source_id = x.source_id
        AND p.pid IS NOT DISTINCT FROM x.pid
        AND p.device_id = x.device_id
        AND p.range_id IS NOT DISTINCT FROM x.range_id
        AND p.stage = x.stage
        AND p.start_ns = x.start_ns
    WHERE x.basis <> 'pass'
    UNION ALL
    SELECT
        x.source_id,
        x.pid,
        x.device_id,
        x.nth,
        t.kernel_ns,
        t.graph_ns,
        t.copy_ns{{range .Causes}},
        coalesce(i.{{.Column}}, 0){{end}}
    FROM x
    JOIN device_time t
        ON t.run_id = run AND t.range_id = x.range_id AND t.source_id = x.source_id AND t.device_id = x.device_id
    LEFT JOIN _idle_time(run) i ON i.range_id = t.range_id AND i.source_id = t.source_id AND i.device_id = t.device_id
    WHERE x.basis = 'pass'
), inside AS (
    SELECT
        x.source_id,
        x.pid,
        x.device_id,
        x.sequence_count,
        x.stage AS kind,
        unnest([
            'kernel', 'collective', 'graph', 'copy', 'work', 'other'{{range .Causes}}, {{quote .Name}}{{end}}
        ]) AS cause,
        unnest([
            f.kernel_ns - coalesce(d.collective_exposed_ns, 0),
            CASE WHEN f.kernel_ns IS NOT NULL THEN d.collective_exposed_ns END,
            f.graph_ns,
            f.copy_ns,
            x.busy_ns - coalesce(f.kernel_ns + f.graph_ns + f.copy_ns, 0),
            x.end_ns - x.start_ns - x.busy_ns - x.idle_ns {{- range .Causes}},
            {{if eq .Name "unknown"}}coalesce(
                x.idle_ns,
                x.end_ns - x.start_ns - x.busy_ns
            ){{range $.Causes}}{{if ne .Name "unknown"}}
                - coalesce(f.{{.Column}}, 0){{end}}{{end}}{{else}}f.{{.Column}}{{end}}{{end}}
        ]) AS part_ns
    FROM x
    LEFT JOIN fine f
        ON f.source_id = x.source_id
        AND f.pid IS NOT DISTINCT FROM x.pid
        AND f.device_id = x.device_id
        AND f.nth = x.nth
    LEFT JOIN device_part d
        ON d.run_id = run AND d.range_id = x.range_id AND d.source_id = x.source_id AND d.device_id = x.device_id
), spot AS ( -- whether all gaps of the GPU are stored
    SELECT DISTINCT
        x.source_id,
        x.pid,
        x.device_id,
        coalesce(
            t.gap_count = (
                SELECT count(*)
                FROM gap g
                WHERE g.run_id = run AND g.source_id = x.source_id AND g.device_id = x.device_id
            ),
            false
        ) AS is_whole
    FROM x
    LEFT JOIN device_time t
        ON t.run_id = run AND t.range_id IS NULL AND t.source_id = x.source_id AND t.device_id = x.device_id
), lull AS (
    SELECT
        b.source_id,
        b.place_pid AS pid,
        b.device_id,
        b.nth{{range .Causes}},
        sum(h.ns) FILTER (s.kind = {{quote .Name}}) AS {{.Column}}{{end}},
        sum(h.ns) AS idle_ns
    FROM (
        SELECT
            p.pid AS place_pid,
            g.source_id,
            g.device_id,
            g.start_ns,
            g.duration_ns
        FROM gap g JOIN spot p ON p.source_id = g.source_id AND p.device_id = g.device_id
        WHERE g.run_id = run
    ) g
    ASOF JOIN (
        SELECT
            x.source_id,
            coalesce(x.pid, -1) AS place,
            x.pid AS place_pid,
            x.device_id,
            x.nth,
            x.end_ns,
            x.next_ns
        FROM x
        WHERE x.next_ns > x.end_ns
    ) b
        ON b.source_id = g.source_id
        AND b.place = coalesce(g.place_pid, -1)
        AND b.device_id = g.device_id
        AND g.start_ns >= b.end_ns
    JOIN gap_part h
        ON h.run_id = run AND h.source_id = g.source_id AND h.device_id = g.device_id AND h.start_ns = g.start_ns
    JOIN stage_part s ON s.part = h.part
    WHERE g.start_ns + g.duration_ns <= b.next_ns
    GROUP BY b.source_id, b.place_pid, b.device_id, b.nth
), outside AS (
    SELECT
        x.source_id,
        x.pid,
        x.device_id,
        x.sequence_count,
        'between' AS kind,
        unnest([{{range .Causes}}{{quote .Name}}, {{end}}'other', 'overlap']) AS cause,
        unnest([
            {{range .Causes}}{{if eq .Name "unknown"}}coalesce(l.unknown_ns, 0)
                + CASE
                    WHEN p.is_whole THEN 0
                    ELSE greatest(x.next_ns - x.end_ns, 0) - coalesce(l.idle_ns, 0)
                END{{else}}l.{{.Column}}{{end}},
            {{end}}CASE WHEN p.is_whole THEN greatest(x.next_ns - x.end_ns, 0) - coalesce(l.idle_ns, 0) END,
            least(x.next_ns - x.end_ns, 0)
        ]) AS part_ns
    FROM x
    JOIN spot p ON p.source_id = x.source_id AND p.pid IS NOT DISTINCT FROM x.pid AND p.device_id = x.device_id
    LEFT JOIN lull l
        ON l.source_id = x.source_id
        AND l.pid IS NOT DISTINCT FROM x.pid
        AND l.device_id = x.device_id
        AND l.nth = x.nth
), whole AS (
    SELECT
        x.source_id,
        x.pid,
        x.device_id,
        count(*) FILTER (x.is_step) AS step_count,
        sum(x.next_ns - x.start_ns)::BIGINT AS time_ns,
        CASE
            WHEN count(x.sequence_count) = count(*) THEN sum(x.sequence_count) FILTER (x.is_step)
        END AS token_count,
        sum((x.next_ns - x.start_ns)::HUGEINT * x.sequence_count) AS token_ns,
        coalesce(bool_or(x.is_speculated), false) AS is_speculated
    FROM x
    GROUP BY x.source_id, x.pid, x.device_id
), engines AS ( -- on every GPU, whichever is asked for
    SELECT
        x.source_id,
        CASE
            WHEN count(x.sequence_count) = count(*)
                THEN sum((x.next_ns - x.start_ns)::HUGEINT * x.sequence_count)::DOUBLE / sum(x.sequence_count) FILTER (x.is_step)
        END AS token_mean_ns
    FROM _tpot_step(run, source := source) x
    GROUP BY x.source_id
), client AS (
    SELECT any_value(l.mean_ns) AS tpot_ns
    FROM served d
    LEFT JOIN serving_benchmark_latency l
        ON l.run_id = run AND l.source_id = d.source_id AND l.benchmark_id = d.benchmark_id AND l.metric = 'tpot'
    WHERE d.run_id = run
    HAVING count(*) = 1
), served_window AS ( -- of the recording that a source comes from
    SELECT
        c.captured_source_id AS source_id,
        any_value(v.client_tpot_ns) AS tpot_ns,
        any_value(v.client_ttft_ns) AS ttft_ns
    FROM capture_source c
    JOIN serving_window v ON v.run_id = run AND v.pass_id = c.pass_id
    WHERE c.run_id = run
    GROUP BY c.captured_source_id
), kind AS (
    SELECT x.source_id, x.pid, x.device_id, x.stage AS kind, count(*) AS iteration_count
    FROM x
    GROUP BY x.source_id, x.pid, x.device_id, x.stage
), q AS (
    SELECT
        p.source_id,
        p.pid,
        p.device_id,
        p.kind,
        p.cause,
        sum(p.part_ns)::BIGINT AS time_ns,
        sum(p.part_ns::HUGEINT * p.sequence_count) AS token_ns
    FROM (
        SELECT n.source_id, n.pid, n.device_id, n.kind, n.cause, n.part_ns, n.sequence_count
        FROM inside n
        UNION ALL
        SELECT o.source_id, o.pid, o.device_id, o.kind, o.cause, o.part_ns, o.sequence_count
        FROM outside o
    ) p
    GROUP BY p.source_id, p.pid, p.device_id, p.kind, p.cause
)
SELECT
    q.kind,
    q.cause,
    q.time_ns,
    q.time_ns / w.step_count AS per_step_ns,
    q.token_ns::DOUBLE / w.token_count AS per_token_ns,
    q.time_ns / w.time_ns AS share_ratio,
    k.iteration_count,
    w.step_count,
    w.time_ns / w.step_count AS step_mean_ns,
    w.token_ns::DOUBLE / w.token_count AS token_mean_ns,
    e.token_mean_ns AS all_token_mean_ns,
    c.tpot_ns AS client_tpot_ns,
    v.tpot_ns AS window_tpot_ns,
    v.ttft_ns AS window_ttft_ns,
    CASE
        WHEN NOT w.is_speculated
            THEN coalesce(v.tpot_ns, c.tpot_ns) - coalesce(e.token_mean_ns, w.time_ns / w.step_count)
    END AS outside_ns,
    q.source_id,
    q.pid,
    q.device_id AS device
FROM q
JOIN whole w ON w.source_id = q.source_id AND w.pid IS NOT DISTINCT FROM q.pid AND w.device_id = q.device_id
JOIN engines e ON e.source_id = q.source_id
LEFT JOIN kind k
    ON k.source_id = q.source_id
    AND k.pid IS NOT DISTINCT FROM q.pid
    AND k.device_id = q.device_id
    AND k.kind = q.kind
LEFT JOIN client c ON true
LEFT JOIN served_window v ON v.source_id = q.source_id
WHERE q.time_ns <> 0
ORDER BY q.source_id, q.device_id, q.pid, q.time_ns DESC, q.kind, q.cause
