-- _finding_chain: Short kernels of the roles elementwise, activation and copy that run one after the other on their stream, in the passes
--     that findings are about.
-- grain: one stage, GPU and family of kernels, of one kind of timeline
-- key: kind, stage, device_id, family
-- needs: device_time kernel
-- columns:
--   kind VARCHAR: {timelines}
--   stage VARCHAR: the stage; NULL: all device work of a timeline without measured passes
--   device_id INTEGER: GPU
--   family VARCHAR: family of the kernels; NULL when no rule names it
--   kernel_count BIGINT: such kernels
--   chain_count BIGINT: how many begin a chain
--   sum_ns BIGINT: their time
--   saving_ns BIGINT: that of all but the first of each chain

-- A copy or fill between two kernels ends a chain: what it moves is not in a register. Rows are kept narrow, for every kernel is sorted
-- here: names and lanes (a stream within a pass) are numbered, and the length of what is in no chain is left out.
WITH short AS (
    SELECT
        row_number() OVER (ORDER BY c.kernel_name_id)::INTEGER AS n,
        c.kernel_name_id,
        c.family
    FROM kernel_class c
    WHERE c.run_id = $run AND c.role IN ('elementwise', 'activation', 'copy')
), most AS (
    SELECT r.value AS ns
    FROM finding_rule r
    WHERE r.finding_id = 'elementwise-chains' AND EXISTS (SELECT 1 FROM short)
), stream AS (
    SELECT
        row_number() OVER (ORDER BY k.source_id, k.device_id, k.context_id, k.stream_id) AS n,
        t.kind,
        t.is_staged,
        k.source_id,
        k.device_id,
        k.context_id,
        k.stream_id
    FROM (
        SELECT k.source_id, k.device_id, k.context_id, k.stream_id
        FROM kernel k
        WHERE k.run_id = $run
        UNION
        SELECT m.source_id, m.device_id, m.context_id, m.stream_id
        FROM memop m
        WHERE m.run_id = $run
    ) k
    JOIN _finding_timeline t ON t.source_id = k.source_id
), place AS (
    SELECT
        p.range_context_id,
        p.stage,
        dense_rank() OVER (ORDER BY p.range_id) AS n
    FROM _finding_place p
), work AS (
    SELECT
        k.source_id,
        k.device_id,
        k.context_id,
        k.stream_id,
        k.range_context_id,
        k.start_ns,
        CASE WHEN k.duration_ns < most.ns THEN k.duration_ns::INTEGER END AS ns,
        CASE WHEN k.duration_ns < most.ns THEN s.n END AS n
    FROM kernel k CROSS JOIN most LEFT JOIN short s ON s.kernel_name_id = k.kernel_name_id
    WHERE k.run_id = $run
    UNION ALL
    SELECT
        m.source_id,
        m.device_id,
        m.context_id,
        m.stream_id,
        m.range_context_id,
        m.start_ns,
        NULL,
        NULL
    FROM memop m
    WHERE m.run_id = $run
), placed AS (
    SELECT
        (coalesce(p.n, 0) << 32) | s.n AS lane,
        w.start_ns,
        w.ns,
        w.n
    FROM work w
    JOIN stream s
        ON s.source_id = w.source_id
        AND s.device_id IS NOT DISTINCT FROM w.device_id
        AND s.context_id IS NOT DISTINCT FROM w.context_id
        AND s.stream_id IS NOT DISTINCT FROM w.stream_id
    LEFT JOIN place p ON p.range_context_id = w.range_context_id
    WHERE p.n IS NOT NULL OR NOT s.is_staged
), beside AS (
    SELECT
        t.lane,
        t.ns,
        t.n,
        lag(t.n) OVER w AS before,
        lead(t.n) OVER w AS after
    FROM placed t
    WINDOW w AS (PARTITION BY t.lane ORDER BY t.start_ns)
), part AS (
    SELECT
        b.lane,
        b.n,
        count(*) AS kernel_count,
        sum(b.ns)::BIGINT AS sum_ns,
        count(*) FILTER (b.before IS NULL) AS chain_count,
        coalesce(sum(b.ns) FILTER (b.before IS NOT NULL), 0)::BIGINT AS saving_ns
    FROM beside b
    WHERE b.n IS NOT NULL AND (b.before IS NOT NULL OR b.after IS NOT NULL)
    GROUP BY b.lane, b.n
)
SELECT
    s.kind,
    p.stage,
    s.device_id,
    short.family,
    sum(x.kernel_count)::BIGINT AS kernel_count,
    sum(x.chain_count)::BIGINT AS chain_count,
    sum(x.sum_ns)::BIGINT AS sum_ns,
    sum(x.saving_ns)::BIGINT AS saving_ns
FROM part x
JOIN short ON short.n = x.n
JOIN stream s ON s.n = x.lane & 4294967295
LEFT JOIN (SELECT DISTINCT place.n, place.stage FROM place) p ON p.n = x.lane >> 32
GROUP BY s.kind, p.stage, s.device_id, short.family
