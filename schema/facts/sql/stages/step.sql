-- step: Steps of each timeline: ranges that are steps, and in sources without such ranges the periodic pattern of GPU work. Ranges outside
--     stages have two rows: by launch (work launched in them) and by time (work of their process that began during them, launched
--     anywhere).
-- grain: one step on one GPU, by launch or by time
-- key: attribution, basis, source_id, pid, device_id, range_id, start_ns
-- needs: _step_range|_step_time
-- columns:
--   nth BIGINT: step number within the stage, source, process and GPU, warm-up included, from 1
--   basis VARCHAR: how the step was found: range or period
--   attribution VARCHAR: attribution of work to the step: launch (launched by its thread during it) or time (started on the GPU between its
--     first work and that of the next step, at most up to the last work its process launched in it)
--   is_default BOOLEAN: whether this attribution is the default: time for periodic steps, and for ranges of one thread outside stages that
--     are ProfilerStep# or have one kernel in a hundred more by time; else launch
--   source_id INTEGER: the source
--   pid INTEGER: process; NULL when its launches were not captured
--   device_id INTEGER: GPU; NULL for a step without device work, and for one whose device work is not all known
--   range_id BIGINT: the range; NULL for periodic steps
--   stage VARCHAR: stage, by stage_rule; (none) outside every stage
--   name_path_id BIGINT: least path of steps with the same normalised range name, which stands for the name: range_path has it; NULL for
--     periodic steps
--   kernel_name_id BIGINT: for periodic steps, the kernel that begins each step; NULL where that is a graph replay, and for ranges
--   start_ns BIGINT: start of its first device work; of the range when it has none
--   until_ns BIGINT: work that starts from here on belongs to another step; NULL by launch, and when the end is unknown
--   time_ns BIGINT: time of the step: period_ns, gpu_span_ns or cpu_ns, by time_basis; NULL when the step lacks that
--   time_basis VARCHAR: definition of time_ns: gpu_period where steps follow each other (half of the steps of its kind do), else gpu_span,
--     or cpu without device work
--   period_ns BIGINT: start of its first device work to that of the next step in the same pass; NULL for the last step
--   cpu_ns BIGINT: CPU time of the range; NULL for periodic steps
--   gpu_span_ns BIGINT: GPU span: first start to last end of its device work
--   busy_ns BIGINT: GPU busy time: union of its device intervals; by time, from where that of earlier steps ended
--   kernel_ns BIGINT: kernels of the step ran; NULL by time
--   graph_ns BIGINT: graph replays of the step without traced kernels ran; NULL by time
--   copy_ns BIGINT: copies and fills of the step ran; NULL by time
--   other_ns BIGINT: only other work ran; by time, that of earlier steps too
{{- range .Causes}}
--   {{.Column}} BIGINT: idle, {{.Meaning}}; NULL by time when not all gaps are known
{{- end}}
--   idle_ns BIGINT: idle time: sum of the idle parts
--   between_ns BIGINT: end of its last device work to the start of the next step's first; NULL for the last step
--   kernel_count BIGINT: kernels
--   memop_count BIGINT: copies and fills
--   graph_count BIGINT: replays whose kernels were not traced
--   decode_count BIGINT: generating sequences; NULL when not known
--   token_count BIGINT: tokens decoded, all sequences together; NULL when unknown
--   is_warmup BOOLEAN: whether it is warm-up: by a warm-up rule, by the workload, or because the step, its pass or a pass inside it was
--     found cold

-- A step's work may be launched by other threads: autograd's, or those of communication. Of steps of no stage the first are cold that take
-- as much again as the longest of the later half, three or more behind them, of which the GPU's work is less than half: see cold_pass.
-- Names may be long: name_id is name_path_id or kernel_name_id, by basis, of which a source has one; 0 is a graph replay.
WITH known AS (
    SELECT
        d.range_id,
        d.device_id,
        d.first_start_ns,
        d.last_end_ns,
        d.busy_ns,
        d.kernel_count,
        d.memop_count,
        d.graph_count
    FROM range_device d
    WHERE d.run_id = $run AND NOT EXISTS (SELECT 1 FROM _range_loss x WHERE x.range_id = d.range_id)
), idle AS (
    SELECT
        i.source_id,
        i.device_id,
        i.range_id{{range .Causes}},
        coalesce(sum(i.ns) FILTER (p.kind = {{quote .Name}}), 0)::BIGINT AS {{.Column}}{{end}}
    FROM idle_part i JOIN stage_part p ON p.part = i.part
    WHERE i.run_id = $run
    GROUP BY i.source_id, i.device_id, i.range_id
), l AS (
    SELECT
        'range' AS basis,
        'launch' AS attribution,
        r.source_id,
        r.pid,
        d.device_id,
        r.range_id,
        r.next_range_id,
        r.stage,
        r.name_path_id AS name_id,
        coalesce(d.first_start_ns, r.start_ns) AS start_ns,
        d.last_end_ns AS end_ns,
        r.cpu_ns,
        d.busy_ns,
        t.kernel_ns,
        t.graph_ns,
        t.copy_ns,
        {{range .Causes}}CASE WHEN t.source_id IS NOT NULL THEN coalesce(i.{{.Column}}, 0) END AS {{.Column}},
        {{end}} d.kernel_count,
        d.memop_count,
        d.graph_count,
        r.decode_count,
        r.token_count,
        r.is_warmup
    FROM _step_range r
    LEFT JOIN known d ON d.range_id = r.range_id
    LEFT JOIN device_time t
        ON t.run_id = $run AND t.range_id = r.range_id AND t.device_id = d.device_id AND t.source_id = r.source_id
    LEFT JOIN idle i ON i.range_id = r.range_id AND i.device_id = d.device_id AND i.source_id = r.source_id
), r AS (
    SELECT
        l.basis,
        l.attribution,
        l.source_id,
        l.pid,
        l.device_id,
        l.range_id,
        l.stage,
        l.name_id,
        l.start_ns,
        NULL::BIGINT AS until_ns,
        CASE WHEN n.start_ns > l.start_ns THEN n.start_ns - l.start_ns END AS period_ns,
        l.cpu_ns,
        l.end_ns - l.start_ns AS gpu_span_ns,
        l.busy_ns,
        l.kernel_ns,
        l.graph_ns,
        l.copy_ns,
        {{range .Causes}}l.{{.Column}},
        {{end}}l.kernel_count,
        l.memop_count,
        l.graph_count,
        l.decode_count,
        l.token_count,
        l.is_warmup
    FROM l LEFT JOIN l n ON n.range_id = l.next_range_id AND n.device_id = l.device_id
    UNION ALL
    SELECT
        CASE WHEN p.range_id IS NULL THEN 'period' ELSE 'range' END,
        'time',
        p.source_id,
        p.pid,
        p.device_id,
        p.range_id,
        CASE WHEN p.range_id IS NULL THEN s.stage ELSE r.stage END,
        coalesce(r.name_path_id, p.kernel_name_id, 0),
        p.start_ns,
        p.until_ns,
        p.period_ns,
        r.cpu_ns,
        p.gpu_span_ns,
        p.busy_ns,
        NULL,
        NULL,
        NULL,
        {{range .Causes}}p.{{.Column}},
        {{end}}p.kernel_count,
        p.memop_count,
        p.graph_count,
        r.decode_count,
        r.token_count,
        coalesce(r.is_warmup, s.is_warmup, false)
    FROM _step_time p
    LEFT JOIN _step_range r ON r.range_id = p.range_id
    LEFT JOIN path_stage s ON s.run_id = $run AND s.path_id = p.path_id
), thread AS (
    SELECT
        x.source_id,
        x.pid,
        count(DISTINCT x.tid) AS threads
    FROM _step_range x
    GROUP BY x.source_id, x.pid
), way AS (
    SELECT
        r.stage,
        r.name_id,
        CASE
            WHEN r.stage IS NULL
                AND max(t.threads) = 1
                AND (
                    r.name_id IN (SELECT y.path_id FROM _step_path y WHERE y.is_profiler)
                    OR sum(CASE WHEN r.attribution = 'time' THEN r.kernel_count END)
                        > 1.01 * coalesce(sum(CASE WHEN r.attribution = 'launch' THEN r.kernel_count END), 0)
                )
                THEN 'time'
            ELSE 'launch'
        END AS attribution
    FROM r JOIN thread t ON t.source_id = r.source_id AND t.pid = r.pid
    WHERE r.basis = 'range'
    GROUP BY r.stage, r.name_id
), kind AS (
    SELECT
        r.attribution,
        r.source_id,
        r.pid,
        r.device_id,
        r.stage,
        r.name_id,
        CASE
            WHEN 2 * count(r.period_ns) >= count(*) THEN 'gpu_period'
            WHEN count(r.gpu_span_ns) > 0 THEN 'gpu_span'
            ELSE 'cpu'
        END AS time_basis
    FROM r
    GROUP BY ALL
), q AS (
    SELECT
        r.basis,
        r.attribution,
        r.source_id,
        r.pid,
        r.device_id,
        r.range_id,
        r.stage,
        r.name_id,
        r.start_ns,
        r.until_ns,
        CASE k.time_basis
            WHEN 'gpu_period' THEN r.period_ns
            WHEN 'gpu_span' THEN r.gpu_span_ns
            ELSE r.cpu_ns
        END AS time_ns,
        k.time_basis,
        r.period_ns,
        r.cpu_ns,
        r.gpu_span_ns,
        r.busy_ns,
        r.kernel_ns,
        r.graph_ns,
        r.copy_ns,
        {{range .Causes}}r.{{.Column}},
        {{end}} 0{{range .Causes}} + r.{{.Column}}{{end}} AS idle_ns,
        r.kernel_count,
        r.memop_count,
        r.graph_count,
        r.decode_count,
        r.token_count,
        r.is_warmup
    FROM r
    JOIN kind k
        ON k.attribution = r.attribution
        AND k.source_id = r.source_id
        AND k.pid IS NOT DISTINCT FROM r.pid
        AND k.device_id IS NOT DISTINCT FROM r.device_id
        AND k.stage IS NOT DISTINCT FROM r.stage
        AND k.name_id = r.name_id
), placed AS ( -- of no stage: cold passes of stages are known already
    SELECT
        q.attribution,
        q.source_id,
        q.pid,
        q.device_id,
        q.name_id,
        q.start_ns,
        q.time_ns,
        q.busy_ns,
        row_number() OVER k AS nth,
        count(*) OVER (PARTITION BY q.attribution, q.source_id, q.pid, q.device_id, q.name_id) AS n
    FROM q
    WHERE q.stage IS NULL
        AND q.time_ns IS NOT NULL
        AND NOT q.is_warmup
        AND NOT EXISTS (
            SELECT 1
            FROM workload_entry e
            WHERE e.run_id = $run AND e.warmup_count IS NOT NULL
        )
    WINDOW k AS (PARTITION BY q.attribution, q.source_id, q.pid, q.device_id, q.name_id ORDER BY q.start_ns)
), later AS (
    SELECT
        p.attribution,
        p.source_id,
        p.pid,
        p.device_id,
        p.name_id,
        median(p.time_ns) AS ns,
        max(p.time_ns) AS max_ns,
        median(p.busy_ns) AS busy_ns
    FROM placed p
    WHERE 2 * p.nth > p.n
    GROUP BY p.attribution, p.source_id, p.pid, p.device_id, p.name_id
), cold AS (
    SELECT p.attribution, p.source_id, p.pid, p.device_id, p.name_id, p.start_ns
    FROM placed p
    JOIN later l
        ON l.attribution = p.attribution
        AND l.source_id = p.source_id
        AND l.pid IS NOT DISTINCT FROM p.pid
        AND l.device_id IS NOT DISTINCT FROM p.device_id
        AND l.name_id = p.name_id
    WHERE 2 * p.nth <= p.n AND p.n - p.nth >= 3
    QUALIFY bool_and(p.time_ns >= 2 * l.max_ns AND coalesce(p.busy_ns - l.busy_ns, 0) < 0.5 * (p.time_ns - l.ns)) OVER (
            PARTITION BY p.attribution, p.source_id, p.pid, p.device_id, p.name_id
            ORDER BY p.nth
        )
)
SELECT
    row_number() OVER (
        PARTITION BY q.attribution, q.stage, q.source_id, q.pid, q.device_id
        ORDER BY q.start_ns, q.range_id
    ) AS nth,
    q.basis,
    q.attribution,
    coalesce(
        w.attribution = q.attribution
            OR q.device_id IS NULL AND NOT EXISTS (SELECT 1 FROM _step_time p WHERE p.range_id = q.range_id),
        true
    ) AS is_default,
    q.source_id,
    q.pid,
    q.device_id,
    q.range_id,
    coalesce(q.stage, '(none)') AS stage,
    CASE q.basis WHEN 'range' THEN q.name_id END AS name_path_id,
    CASE q.basis WHEN 'period' THEN nullif(q.name_id, 0) END AS kernel_name_id,
    q.start_ns,
    q.until_ns,
    q.time_ns,
    q.time_basis,
    q.period_ns,
    q.cpu_ns,
    q.gpu_span_ns,
    q.busy_ns,
    q.kernel_ns,
    q.graph_ns,
    q.copy_ns,
    q.gpu_span_ns - q.busy_ns - q.idle_ns AS other_ns,
    {{range .Causes}}q.{{.Column}},
    {{end}}coalesce(q.idle_ns, q.gpu_span_ns - q.busy_ns) AS idle_ns,
    CASE WHEN q.period_ns IS NOT NULL THEN greatest(q.period_ns - q.gpu_span_ns, 0) END AS between_ns,
    q.kernel_count,
    q.memop_count,
    q.graph_count,
    q.decode_count,
    q.token_count,
    q.is_warmup OR c.start_ns IS NOT NULL AS is_warmup
FROM q
LEFT JOIN way w ON w.stage IS NOT DISTINCT FROM q.stage AND w.name_id = q.name_id AND q.basis = 'range'
LEFT JOIN cold c
    ON c.attribution = q.attribution
    AND c.source_id = q.source_id
    AND c.pid IS NOT DISTINCT FROM q.pid
    AND c.device_id IS NOT DISTINCT FROM q.device_id
    AND c.name_id = q.name_id
    AND c.start_ns = q.start_ns
    AND q.stage IS NULL
