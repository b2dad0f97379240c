-- _finding_chain: Short kernels of the roles elementwise, activation and copy that run one after the other on their stream, in the passes that findings are about.
-- grain: one stage, GPU and family of kernels, of one kind of timeline
-- key: kind, stage, device_id, family
-- needs: device_time kernel
-- columns:
--   kind VARCHAR: nsys or torch
--   stage VARCHAR: the stage; NULL: all device work of a timeline without measured passes
--   device_id INTEGER: GPU
--   family VARCHAR: family of the kernels; NULL when no rule names it
--   kernel_count BIGINT: such kernels
--   chain_count BIGINT: how many begin a chain
--   sum_ns BIGINT: their time
--   saving_ns BIGINT: that of all but the first of each chain

-- A copy or fill between two kernels ends a chain: what it moves is not in a register. Rows are kept narrow, for every kernel is sorted here: names
-- are numbered, and the length of what is in no chain is left out.
WITH short AS (
    SELECT row_number() OVER (ORDER BY c.kernel_name_id)::INTEGER AS n, c.kernel_name_id, c.family FROM kernel_class c WHERE c.run_id = $run AND c.role IN ('elementwise', 'activation', 'copy')
), most AS (
    SELECT r.value AS ns FROM finding_rule r WHERE r.finding_id = 'elementwise-chains' AND EXISTS (SELECT 1 FROM short)
), work AS (
    SELECT k.source_id, k.device_id, k.context_id, k.stream_id, k.range_context_id, k.start_ns, CASE WHEN k.duration_ns < most.ns THEN k.duration_ns::INTEGER END AS ns, CASE WHEN k.duration_ns < most.ns THEN s.n END AS n
    FROM kernel k CROSS JOIN most LEFT JOIN short s ON s.kernel_name_id = k.kernel_name_id
    WHERE k.run_id = $run
    UNION ALL
    SELECT m.source_id, m.device_id, m.context_id, m.stream_id, m.range_context_id, m.start_ns, NULL, NULL FROM memop m WHERE m.run_id = $run
), placed AS (
    SELECT p.range_id, w.source_id, w.device_id, w.context_id, w.stream_id, w.start_ns, w.ns, w.n
    FROM work w JOIN _finding_timeline t ON t.source_id = w.source_id LEFT JOIN _finding_place p ON p.range_context_id = w.range_context_id
    WHERE p.range_id IS NOT NULL OR NOT t.is_staged
), beside AS (
    SELECT t.source_id, t.range_id, t.device_id, t.ns, t.n, lag(t.n) OVER w AS before, lead(t.n) OVER w AS after
    FROM placed t WINDOW w AS (PARTITION BY t.range_id, t.source_id, t.device_id, t.context_id, t.stream_id ORDER BY t.start_ns)
), part AS (
    SELECT b.source_id, b.range_id, b.device_id, b.n, count(*) AS kernel_count, sum(b.ns)::BIGINT AS sum_ns, count(*) FILTER (b.before IS NULL) AS chain_count, coalesce(sum(b.ns) FILTER (b.before IS NOT NULL), 0)::BIGINT AS saving_ns
    FROM beside b WHERE b.n IS NOT NULL AND (b.before IS NOT NULL OR b.after IS NOT NULL)
    GROUP BY b.source_id, b.range_id, b.device_id, b.n
)
SELECT t.kind, p.stage, x.device_id, short.family, sum(x.kernel_count)::BIGINT AS kernel_count, sum(x.chain_count)::BIGINT AS chain_count, sum(x.sum_ns)::BIGINT AS sum_ns, sum(x.saving_ns)::BIGINT AS saving_ns
FROM part x JOIN short ON short.n = x.n JOIN _finding_timeline t ON t.source_id = x.source_id LEFT JOIN (SELECT DISTINCT place.range_id, place.stage FROM _finding_place place) p ON p.range_id = x.range_id
GROUP BY t.kind, p.stage, x.device_id, short.family
