-- _finding-elementwise-chains: Finding: short elementwise kernels run one after the other where one could do their work.
-- grain: one stage on one GPU
-- key: stage, device
-- params:
--   run VARCHAR: the run
--   place VARCHAR = NULL: name of a relation that holds _finding-place of the run already, in its place
--   work VARCHAR = NULL: name of a relation that holds _finding-work of the run already, in its place
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   finding: name of the rule, as in finding-rules
--   stage: the stage; NULL: all device work of a run without measured passes
--   device: GPU
--   subject: family of kernels with the most of that time; NULL when no rule names it
--   saving_ns: what could be saved over the measured passes
--   evidence: the numbers it follows from

-- A copy or fill between two kernels ends a chain: what it moves is not in a register. Rows are kept narrow, for every kernel is sorted here: names
-- are numbered, and the length of what is in no chain is left out.
WITH place AS (
    SELECT p.range_context_id, p.stage, p.range_id FROM query(_given(place, '_finding_place', run, source)) p
), counted AS (
    SELECT t.source_id FROM _timeline(run, source := source) t
), most AS (
    SELECT r.value AS ns FROM finding_rules_v1 r WHERE r.finding = 'elementwise-chains'
), short AS (
    SELECT row_number() OVER (ORDER BY c.kernel_name_id)::INTEGER AS n, c.kernel_name_id, c.family FROM kernel_class c WHERE c.run_id = run AND c.role IN ('elementwise', 'activation', 'copy')
), work AS (
    SELECT k.source_id, k.device_id, k.context_id, k.stream_id, k.range_context_id, k.start_ns, CASE WHEN k.duration_ns < most.ns THEN k.duration_ns::INTEGER END AS ns, CASE WHEN k.duration_ns < most.ns THEN s.n END AS n
    FROM kernel k CROSS JOIN most LEFT JOIN short s ON s.kernel_name_id = k.kernel_name_id
    WHERE k.run_id = run AND k.source_id IN (SELECT counted.source_id FROM counted)
    UNION ALL
    SELECT m.source_id, m.device_id, m.context_id, m.stream_id, m.range_context_id, m.start_ns, NULL, NULL FROM memop m WHERE m.run_id = run AND m.source_id IN (SELECT counted.source_id FROM counted)
), told AS (
    SELECT p.range_id, w.source_id, w.device_id, w.context_id, w.stream_id, w.start_ns, w.ns, w.n
    FROM work w LEFT JOIN place p ON p.range_context_id = w.range_context_id
    WHERE p.range_id IS NOT NULL OR NOT EXISTS (SELECT 1 FROM place)
), beside AS (
    SELECT t.range_id, t.device_id, t.ns, t.n, lag(t.n) OVER w AS before, lead(t.n) OVER w AS after
    FROM told t WINDOW w AS (PARTITION BY t.range_id, t.source_id, t.device_id, t.context_id, t.stream_id ORDER BY t.start_ns)
), part AS (
    SELECT b.range_id, b.device_id, b.n, count(*) AS calls, sum(b.ns)::BIGINT AS total_ns, count(*) FILTER (b.before IS NULL) AS chains, coalesce(sum(b.ns) FILTER (b.before IS NOT NULL), 0)::BIGINT AS saving_ns
    FROM beside b WHERE b.n IS NOT NULL AND (b.before IS NOT NULL OR b.after IS NOT NULL)
    GROUP BY b.range_id, b.device_id, b.n
), f AS (
    SELECT p.stage, x.device_id, short.family, sum(x.calls)::BIGINT AS calls, sum(x.total_ns)::BIGINT AS total_ns, sum(x.chains)::BIGINT AS chains, sum(x.saving_ns)::BIGINT AS saving_ns
    FROM part x JOIN short ON short.n = x.n LEFT JOIN (SELECT DISTINCT place.range_id, place.stage FROM place) p ON p.range_id = x.range_id
    GROUP BY p.stage, x.device_id, short.family
), alone AS ( -- less than 1 where kernels ran side by side
    SELECT w.stage, w.device, sum(w.device_ns) / nullif(sum(w.total_ns), 0) AS ratio FROM query(_given(work, '_finding_work', run, source)) w GROUP BY w.stage, w.device
)
SELECT 'elementwise-chains' AS finding, f.stage, f.device_id AS device, arg_max(f.family, (f.saving_ns, f.family)) AS subject, (sum(f.saving_ns) * any_value(a.ratio))::BIGINT AS saving_ns,
    format('{:,} elementwise kernels under {:.0f} us in {} take {} together, all but the first of each chain {}', sum(f.calls)::BIGINT, (SELECT most.ns / 1e3 FROM most), _count_text(sum(f.chains), 'chain', 'chains'),
        _time_text(sum(f.total_ns)), _time_text(sum(f.saving_ns))) AS evidence
FROM f JOIN alone a ON a.stage IS NOT DISTINCT FROM f.stage AND a.device = f.device_id
GROUP BY f.stage, f.device_id
