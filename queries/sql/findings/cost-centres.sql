-- cost-centres v1: What the time of the measured passes of stages goes to: idle time by what held the GPU up, kernels by family, copies; together all of their spans.
-- grain: one centre of one stage
-- key: stage, kind, centre
-- notes: graph pass throttle timelines accounting launch stage
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage; (none) for all device work of a run without measured passes
--   top BIGINT = 10: centres at most; 0 for all
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   rank: place by total_ns among the rows of all stages asked for
--   stage: the stage, by stage_rule, warm-up passes left out; NULL: all device work of a run without measured passes
--   centre: idle: launch-bound, synchronising, cuda-call, host-bound, queued, profiler or unknown, as the kinds of accounting; kernels: their family by
--     kernel_rule, or their name where no rule matches, and (graph replays) for those traced as a whole; copies: (copies and fills); other: (work of others)
--   kind: idle, kernels, copies or other (only work ran that the passes did not launch)
--   total_ns: what it took of the spans, added up over passes and GPUs: the centres of a stage add up to stage_ns. Kernels that ran side by side share the time
--     in which kernels ran by the lengths of their executions; graph replays count when no kernel ran, copies when neither did
--   share_ratio: total_ns as a share of measured_ns
--   calls: executions; NULL for idle and other
--   measured_ns: sum of the spans, from the first start to the last end of device work, of all measured passes of all stages, over the GPUs
--   stage_ns: the same of the stage
--   sum_ns: sum of the lengths of the executions: more than total_ns where work ran side by side; NULL for idle and other

WITH pass AS (
    SELECT p.range_id, p.stage FROM _finding_pass(run, source := source) p
), counted AS (
    SELECT t.source_id FROM _timeline(run, source := source) t
), any_pass AS (
    SELECT EXISTS (SELECT 1 FROM pass) AS is_staged
), part AS (
    SELECT p.stage, d.device_id, sum(d.end_ns - d.start_ns)::BIGINT AS span_ns, sum(d.kernel_ns)::BIGINT AS kernel_ns, unnest([
        {'centre': 'launch-bound', 'kind': 'idle', 'ns': sum(d.launch_ns + d.late_ns)}, {'centre': 'synchronising', 'kind': 'idle', 'ns': sum(d.wait_ns)}, {'centre': 'cuda-call', 'kind': 'idle', 'ns': sum(d.call_ns)},
        {'centre': 'host-bound', 'kind': 'idle', 'ns': sum(d.host_ns)}, {'centre': 'queued', 'kind': 'idle', 'ns': sum(d.queued_ns)}, {'centre': 'profiler', 'kind': 'idle', 'ns': sum(d.profiler_ns)},
        {'centre': 'unknown', 'kind': 'idle', 'ns': sum(d.unknown_ns)}, {'centre': '(graph replays)', 'kind': 'kernels', 'ns': sum(d.graph_ns)}, {'centre': '(copies and fills)', 'kind': 'copies', 'ns': sum(d.copy_ns)},
        {'centre': '(work of others)', 'kind': 'other', 'ns': sum(d.other_ns)}]) AS c
    FROM device_time d CROSS JOIN any_pass a LEFT JOIN pass p ON p.range_id = d.range_id
    WHERE d.run_id = run AND d.source_id IN (SELECT counted.source_id FROM counted) AND CASE WHEN a.is_staged THEN p.range_id IS NOT NULL ELSE d.range_id IS NULL END
    GROUP BY p.stage, d.device_id
), place AS ( -- a launch that is in two passes counts in both, as in their times
    SELECT c.range_context_id, p.stage, count(*) AS passes
    FROM pass p JOIN range_context c ON c.run_id = run AND c.range_id = p.range_id GROUP BY c.range_context_id, p.stage
), work AS ( -- added up by source first, so that the sources can be looked up without touching each kernel
    SELECT k.source_id, k.device_id, k.range_context_id, k.kernel_name_id, NULL AS centre, count(*) AS calls, sum(k.duration_ns)::BIGINT AS sum_ns
    FROM kernel k WHERE k.run_id = run GROUP BY k.source_id, k.device_id, k.range_context_id, k.kernel_name_id
    UNION ALL
    SELECT m.source_id, m.device_id, m.range_context_id, NULL, '(copies and fills)', count(*), sum(m.duration_ns)::BIGINT
    FROM memop m WHERE m.run_id = run GROUP BY m.source_id, m.device_id, m.range_context_id
    UNION ALL
    SELECT g.source_id, g.device_id, g.range_context_id, NULL, '(graph replays)', count(*), sum(g.duration_ns)::BIGINT
    FROM graph_launch g WHERE g.run_id = run AND g.mode = 'graph' GROUP BY g.source_id, g.device_id, g.range_context_id
), ran AS (
    SELECT p.stage, w.device_id, w.kernel_name_id, w.centre, sum(w.calls * coalesce(p.passes, 1))::BIGINT AS calls, sum(w.sum_ns * coalesce(p.passes, 1))::BIGINT AS sum_ns
    FROM work w CROSS JOIN any_pass a LEFT JOIN place p ON p.range_context_id = w.range_context_id
    WHERE w.source_id IN (SELECT counted.source_id FROM counted) AND (p.passes > 0 OR NOT a.is_staged)
    GROUP BY p.stage, w.device_id, w.kernel_name_id, w.centre
), family AS (
    SELECT r.stage, r.device_id, coalesce(c.family, n.name) AS centre, sum(r.calls)::BIGINT AS calls, sum(r.sum_ns)::BIGINT AS sum_ns
    FROM ran r JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = r.kernel_name_id
    LEFT JOIN kernel_class c ON c.run_id = n.run_id AND c.kernel_name_id = n.kernel_name_id
    GROUP BY r.stage, r.device_id, coalesce(c.family, n.name)
), upto AS ( -- of the time in which kernels ran each has what lies between two shares of it, so that all add up to it in whole nanoseconds
    SELECT f.stage, f.device_id, f.centre, f.calls, f.sum_ns, sum(f.sum_ns) OVER (PARTITION BY f.stage, f.device_id ORDER BY f.centre) AS upto_ns, sum(f.sum_ns) OVER (PARTITION BY f.stage, f.device_id) AS all_ns
    FROM family f
), centre AS (
    SELECT u.stage, u.centre, 'kernels' AS kind, coalesce(u.upto_ns * t.kernel_ns // u.all_ns - (u.upto_ns - u.sum_ns) * t.kernel_ns // u.all_ns, 0) AS total_ns, u.calls, u.sum_ns
    FROM upto u JOIN (SELECT DISTINCT p.stage, p.device_id, p.kernel_ns FROM part p) t ON t.stage IS NOT DISTINCT FROM u.stage AND t.device_id = u.device_id
    UNION ALL
    SELECT p.stage, p.c.centre, p.c.kind, p.c.ns, r.calls, r.sum_ns
    FROM part p LEFT JOIN ran r ON r.stage IS NOT DISTINCT FROM p.stage AND r.device_id = p.device_id AND r.centre = p.c.centre
), spent AS (
    SELECT p.stage, sum(p.span_ns)::BIGINT AS stage_ns FROM part p WHERE p.c.centre = 'unknown' GROUP BY p.stage
), ranked AS (
    SELECT row_number() OVER (ORDER BY sum(c.total_ns) DESC, c.stage, c.kind, c.centre) AS rank, c.stage, c.centre, c.kind, sum(c.total_ns)::BIGINT AS total_ns, sum(c.calls)::BIGINT AS calls, sum(c.sum_ns)::BIGINT AS sum_ns
    FROM centre c WHERE stage IS NULL OR coalesce(c.stage, '(none)') = stage
    GROUP BY c.stage, c.centre, c.kind HAVING sum(c.total_ns) > 0 OR sum(c.calls) > 0
)
SELECT r.rank, r.stage, r.centre, r.kind, r.total_ns, r.total_ns / nullif((SELECT sum(x.stage_ns) FROM spent x), 0) AS share_ratio, r.calls, (SELECT sum(x.stage_ns) FROM spent x)::BIGINT AS measured_ns, s.stage_ns, r.sum_ns
FROM ranked r JOIN spent s ON s.stage IS NOT DISTINCT FROM r.stage
WHERE top = 0 OR r.rank <= top
ORDER BY r.rank
