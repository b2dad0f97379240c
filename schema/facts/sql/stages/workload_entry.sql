-- workload_entry: The workload's description of its passes, counted from the last one, as far as it covers a timeline of the kind.
-- grain: one workload pass, or one row for every pass, per timeline kind, and node of a job of several; of a job's facts per process too
-- key: kind, node_rank, process_id, back_count
-- needs: workload
-- columns:
--   kind VARCHAR: timeline kind: {timelines}; NULL in a run without a timeline
--   is_counted BOOLEAN: whether that is the counted kind
--   node_rank INTEGER: node of the timelines; NULL where they are of none
--   is_own BOOLEAN: whether the facts are of that node alone; else of the whole job
--   process_id INTEGER: process of the facts that ran it, as in workload_process; NULL when it holds for every process
--   pid INTEGER: that process, as the timeline has it; NULL where the facts are of the whole job and processes of two nodes have that id
--   parallel_size INTEGER: ranks that its model is split over by tensor parallelism; NULL when unknown
--   back_count BIGINT: position from the end: 1 for the last pass, 2 for the one before; 0 for values that hold for every pass, or when no
--     pass is listed
--   prefill_count BIGINT: tokens per prompt; NULL when unknown
--   decode_count BIGINT: decode steps after the prompt; NULL when unknown
--   batch_count BIGINT: sequences; NULL when no pass is listed
--   image_count BIGINT: images per prompt; NULL when unknown
--   crop_count BIGINT: crops per image; NULL when unknown
--   later_count BIGINT: decode steps of the passes after this one
--   warmup_count BIGINT: warm-up passes at the beginning of the capture; NULL when unknown, and in a file that lists passes: it does not
--     list the warm-up passes before them
--   is_warmup BOOLEAN: whether it is a warm-up pass
--   input VARCHAR: input that it worked on, as the workload says; NULL when not said

-- Of several files about a timeline the latest is taken, and of several options the latest: what is given afterwards is better
-- known. What an option says goes before what a file does. What a node wrote is about its own passes alone.
WITH file AS (
    SELECT
        w.source_id,
        w.warmup_count,
        w.capture,
        s.form = 'options' AS is_option,
        try_cast(n.value AS INTEGER) AS node_rank
    FROM workload w
    JOIN source s ON s.run_id = w.run_id AND s.source_id = w.source_id
    LEFT JOIN source_fact n ON n.run_id = w.run_id AND n.source_id = w.source_id AND n.key = 'job.node'
    WHERE w.run_id = $run
), about AS (
    SELECT DISTINCT t.kind, t.is_counted, h.node_rank
    FROM timeline t LEFT JOIN source_host h ON h.run_id = t.run_id AND h.source_id = t.source_id
    WHERE t.run_id = $run
    UNION ALL
    SELECT DISTINCT NULL, true, f.node_rank
    FROM file f
    WHERE NOT EXISTS (SELECT 1 FROM timeline t WHERE t.run_id = $run)
), facts AS (
    SELECT
        k.kind,
        k.is_counted,
        k.node_rank,
        f.source_id,
        f.warmup_count,
        f.is_option,
        f.node_rank IS NOT NULL AS is_own
    FROM about k
    JOIN file f ON (f.capture IS NULL OR f.capture = k.kind) AND (f.node_rank IS NULL OR f.node_rank = k.node_rank)
), chosen AS (
    SELECT
        f.kind,
        f.is_counted,
        f.node_rank,
        f.is_option,
        max(f.source_id) AS source_id,
        arg_max_null(f.warmup_count, f.source_id) AS warmup_count,
        arg_max(f.is_own, f.source_id) AS is_own
    FROM facts f
    GROUP BY f.kind, f.is_counted, f.node_rank, f.is_option
), twin AS ( -- ids that processes of two nodes have
    SELECT p.pid
    FROM process p JOIN source_host h ON h.run_id = p.run_id AND h.source_id = p.source_id
    WHERE p.run_id = $run
    GROUP BY p.pid
    HAVING count(DISTINCT h.node_rank) > 1
), o AS (
    SELECT
        c.kind,
        c.node_rank,
        p.prefill_count,
        p.decode_count,
        p.batch_count,
        p.image_count,
        p.crop_count,
        c.warmup_count
    FROM chosen c LEFT JOIN workload_pass p ON p.run_id = $run AND p.source_id = c.source_id
    WHERE c.is_option
), e AS (
    SELECT
        c.kind,
        c.is_counted,
        c.node_rank,
        c.is_own,
        p.pass_id,
        p.process_id,
        CASE WHEN c.is_own OR w.pid NOT IN (SELECT t.pid FROM twin t) THEN w.pid END AS pid,
        w.parallel_size,
        coalesce(o.prefill_count, p.prefill_count) AS prefill_count,
        coalesce(o.decode_count, p.decode_count) AS decode_count,
        coalesce(o.batch_count, p.batch_count, CASE WHEN p.source_id IS NOT NULL THEN 1 END) AS batch_count,
        coalesce(o.image_count, p.image_count) AS image_count,
        coalesce(o.crop_count, p.crop_count) AS crop_count,
        coalesce(o.warmup_count, CASE WHEN p.pass_id IS NULL THEN c.warmup_count END) AS warmup_count,
        coalesce(p.is_warmup, false) AS is_warmup,
        p.input
    FROM chosen c
    LEFT JOIN workload_pass p ON p.run_id = $run AND p.source_id = c.source_id
    LEFT JOIN workload_process w ON w.run_id = $run AND w.source_id = c.source_id AND w.process_id = p.process_id
    LEFT JOIN o ON o.kind IS NOT DISTINCT FROM c.kind AND o.node_rank IS NOT DISTINCT FROM c.node_rank
    WHERE NOT c.is_option
        OR NOT EXISTS (
            SELECT 1
            FROM chosen x
            WHERE NOT x.is_option
                AND x.kind IS NOT DISTINCT FROM c.kind
                AND x.node_rank IS NOT DISTINCT FROM c.node_rank
        )
)
SELECT
    e.kind,
    e.is_counted,
    e.node_rank,
    e.is_own,
    e.process_id,
    e.pid,
    e.parallel_size,
    CASE
        WHEN e.pass_id IS NULL THEN 0
        ELSE row_number() OVER (PARTITION BY e.kind, e.node_rank, e.process_id ORDER BY e.pass_id DESC NULLS LAST)
    END AS back_count,
    e.prefill_count,
    e.decode_count,
    e.batch_count,
    e.image_count,
    e.crop_count,
    coalesce(
        sum(e.decode_count) OVER (
            PARTITION BY e.kind, e.node_rank, e.process_id
            ORDER BY e.pass_id DESC NULLS LAST
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ),
        0
    )::BIGINT AS later_count,
    e.warmup_count,
    e.is_warmup,
    e.input
FROM e
