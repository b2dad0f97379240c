-- trend-work v1: Composition of a stage pass over the runs of one workload: kernels, copies, graph replays and idle time. Shows what moved
--     when a stage did.
-- grain: one run, stage and kernel, copy operation or graph replay, or the idle time of a stage
-- key: run_id, stage, kind, name
-- params:
--   workload VARCHAR = NULL: workload_key, unique prefix of one, command, or any reference to a run of the workload; NULL: the workload of
--     the latest run that has one and device work
--   tag VARCHAR = NULL: only runs with this tag, key=value; a run must have all tags of a list separated by line breaks
--   stage VARCHAR = NULL: only this stage; (run) for runs without stages
--   top BIGINT = 20: maximum kernels, copies and graphs per stage: those with the most time per pass in any run; 0 for all
--   last BIGINT = 0: only the latest runs of the workload; 0 for all
--   by VARCHAR = 'name': group kernels by name (demangled) or family
-- columns:
--   run: run name
--   stage: the stage; (run) for all device work of a run without stages
--   kind: kernel, copy, graph (a replay traced as a whole) or idle (span less busy time; only for passes on one GPU)
--   name: demangled name or family of a kernel, operation of a copy, graph replay, or idle
--   pass_ns: time per pass: mean over the measured passes, so that kernels, copies and graphs add up to the mean gpu_sum_ns
--   pass_launch_count: executions per pass, mean over the measured passes; NULL for idle time
--   family: kernel family by kernel_rule; NULL when no rule matches, and for other work
--   at: start of its capture, UTC; of its ingest when unknown
--   run_id: run id

-- Long: names of kernels are matched over all runs before anything is added up.
WITH w AS (
    SELECT w.run_id, w.run, w.at
    FROM _workload_run(workload := workload, tag := tag) w
    ORDER BY w.at DESC, w.run_id DESC
    LIMIT CASE WHEN last > 0 THEN last END
), p AS (
    SELECT
        s.run_id,
        s.source_id,
        s.range_id,
        s.stage,
        s.gpu_span_ns - s.gpu_busy_ns AS idle_ns
    FROM stage_pass s
    WHERE s.run_id IN (SELECT w.run_id FROM w)
        AND s.is_counted
        AND NOT s.is_warmup
        AND (stage IS NULL OR s.stage = stage)
    UNION ALL -- runs without passes of stages: a capture stands for a pass
    SELECT DISTINCT k.run_id, k.source_id, 0, '(run)', NULL
    FROM work_sum k
    WHERE k.is_counted
        AND k.run_id IN (
            SELECT w.run_id
            FROM w
            WHERE w.run_id NOT IN (SELECT x.run_id FROM stage_pass x WHERE x.is_counted)
        )
        AND (stage IS NULL OR stage = '(run)')
), n AS (
    SELECT
        p.run_id,
        p.stage,
        count(*) AS passes,
        avg(p.idle_ns) AS idle_ns
    FROM p
    GROUP BY p.run_id, p.stage
), spelt AS ( -- profilers write the same kernel in different ways
    SELECT
        m.run_id,
        m.kernel_name_id,
        m.name_hash,
        s.spelling,
        count(*) OVER (PARTITION BY m.run_id, s.spelling) AS names
    FROM kernel_name m
    LEFT JOIN kernel_spelling s ON s.run_id = m.run_id AND s.kernel_name_id = m.kernel_name_id
    WHERE m.run_id IN (SELECT w.run_id FROM w)
        AND (m.run_id, m.kernel_name_id) IN (
            SELECT (k.run_id, k.kernel_name_id)
            FROM work_sum k
            WHERE k.is_counted AND k.run_id IN (SELECT w.run_id FROM w)
        )
), shared AS (
    SELECT
        m.run_id,
        m.kernel_name_id,
        CASE
            WHEN m.spelling IS NULL OR max(m.names) OVER (PARTITION BY m.spelling) > 1 THEN m.name_hash
            ELSE min(m.name_hash) OVER (PARTITION BY m.spelling)
        END AS name_hash
    FROM spelt m
), m AS ( -- a name's family is the same in every run, unless rules of another day made it
    SELECT
        m.run_id,
        m.kernel_name_id,
        m.name_hash,
        min(c.family) OVER (PARTITION BY m.name_hash) AS family
    FROM shared m
    LEFT JOIN kernel_class c ON c.run_id = m.run_id AND c.kernel_name_id = m.kernel_name_id
    WHERE m.run_id IN (SELECT w.run_id FROM w)
), k AS ( -- by ids as long as there are many rows
    SELECT
        k.run_id,
        p.stage,
        k.kind,
        k.kernel_name_id,
        k.operation,
        sum(k.sum_ns)::BIGINT AS sum_ns,
        sum(k.launch_count)::BIGINT AS launches,
        min(k.device_id) AS first_device,
        max(k.device_id) AS last_device
    FROM work_sum k
    JOIN p ON p.run_id = k.run_id AND p.source_id = k.source_id AND p.range_id = k.range_id
    GROUP BY k.run_id, p.stage, k.kind, k.kernel_name_id, k.operation
), item AS (
    SELECT
        k.run_id,
        k.stage,
        k.kind,
        CASE "by"
            WHEN 'name' THEN m.name_hash
            WHEN 'family' THEN NULL
            ELSE error('ARGUMENT: --by is name or family')::BIGINT
        END AS id,
        CASE
            WHEN k.kind = 'graph' THEN 'graph replay'
            WHEN k.kind = 'copy' THEN k.operation
            WHEN "by" = 'family' THEN coalesce(m.family, '(unclassified)')
        END AS label,
        sum(k.sum_ns)::BIGINT / any_value(n.passes) AS pass_ns,
        sum(k.launches)::BIGINT / any_value(n.passes) AS pass_launch_count
    FROM k
    JOIN n ON n.run_id = k.run_id AND n.stage = k.stage
    LEFT JOIN m ON m.run_id = k.run_id AND m.kernel_name_id = k.kernel_name_id
    GROUP BY k.run_id, k.stage, k.kind, id, label
), kept AS (
    SELECT
        i.stage,
        i.kind,
        i.id,
        i.label,
        row_number() OVER (PARTITION BY i.stage ORDER BY max(i.pass_ns) DESC, i.kind, i.label, i.id) AS rank
    FROM item i
    GROUP BY i.stage, i.kind, i.id, i.label
), named AS (
    SELECT
        t.stage,
        t.kind,
        t.id,
        t.label,
        coalesce(t.label, min(x.name)) AS name,
        coalesce(
            min(m.family),
            CASE WHEN "by" = 'family' AND t.kind = 'kernel' THEN nullif(t.label, '(unclassified)') END
        ) AS family
    FROM kept t
    LEFT JOIN m ON m.name_hash = t.id
    LEFT JOIN kernel_name x ON x.run_id = m.run_id AND x.kernel_name_id = m.kernel_name_id
    WHERE top = 0 OR t.rank <= top
    GROUP BY t.stage, t.kind, t.id, t.label
), one AS ( -- several GPUs are busy side by side: the span less their sum is no idle time
    SELECT k.run_id, k.stage
    FROM k
    GROUP BY k.run_id, k.stage
    HAVING min(k.first_device) = max(k.last_device)
)
SELECT w.run, x.stage, x.kind, x.name, x.pass_ns, x.pass_launch_count, x.family, w.at, x.run_id
FROM (
    SELECT i.run_id, i.stage, i.kind, t.name, i.pass_ns, i.pass_launch_count, t.family
    FROM item i
    JOIN named t
        ON t.stage = i.stage
        AND t.kind = i.kind
        AND t.id IS NOT DISTINCT FROM i.id
        AND t.label IS NOT DISTINCT FROM i.label
    UNION ALL
    SELECT n.run_id, n.stage, 'idle', 'idle', n.idle_ns, NULL, NULL
    FROM n JOIN one ON one.run_id = n.run_id AND one.stage = n.stage
    WHERE n.idle_ns IS NOT NULL
) x
JOIN w ON w.run_id = x.run_id
ORDER BY w.at, x.run_id, array_position(['prefill', 'decode'], x.stage) NULLS LAST, x.stage, x.pass_ns DESC, x.kind,
    x.name
