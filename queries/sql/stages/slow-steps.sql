-- slow-steps v1: Steps that took longer than the median one of their kind, and what made them slow: the part of their time and the kernel that grew most.
-- grain: one step on one GPU
-- key: rank
-- notes: step launch range timelines workload
-- params:
--   run VARCHAR: the run
--   top BIGINT = 10: rows at most; 0 for all
--   stage VARCHAR = NULL: only this stage; (none) for steps outside every stage
--   device BIGINT = NULL: only work on this GPU, and only steps that have some
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   rank: place by excess_ns
--   nth: 1, 2, ... within the stage, source, process and GPU, as in steps
--   time_ns: its time, by time_basis
--   excess_ns: over the median time of the steps of its kind
--   cause: the part of its time that exceeds the median of that part most: kernel, graph, copy, other, launch-bound, synchronising, cuda-call, host-bound, profiler, queued, unknown (see accounting),
--     between (after its last device work, before the next step); busy, idle and between with the basis period. NULL when no part is known to have grown
--   cause_ns: by how much
--   stage: stage, by stage_rule; (none) outside of stages
--   kernel_excess_ns: by how much the kernel beside exceeds its median, all its launches in the step together
--   kernel: the kernel whose time in this step exceeds the median of its time in a step most, 0 where a step has none; NULL when none does
--   median_ns: median time of the steps of its kind, warm-up left out
--   name: normalised name of the range; with the basis period the kernel that begins each step, or graph replay
--   device: GPU; NULL for a step without device work
--   time_basis: what time_ns is: gpu_period, gpu_span or cpu
--   start_ns: start of its first device work, from the start of the source; of the range where it has none
--   basis: how steps were found: range or period
--   source_id: the source
--   pid: process
--   range_id: the range; NULL with the basis period

WITH parted AS MATERIALIZED (
    SELECT row_number() OVER (ORDER BY s.source_id, s.start_ns, s.device_id, s.pid, s.range_id, s.stage) AS id, row_number() OVER (PARTITION BY s.stage, s.source_id, s.pid, s.device_id ORDER BY s.start_ns, s.range_id) AS nth,
        s.basis, s.source_id, s.pid, s.device_id, s.range_id, s.stage, s.name, s.start_ns, s.time_ns, s.time_basis, s.period_ns, s.is_warmup,
        CASE WHEN s.kernel_ns IS NULL THEN [s.busy_ns, s.idle_ns] ELSE [s.kernel_ns, s.graph_ns, s.copy_ns, s.other_ns, s.launch_bound_ns, s.wait_ns, s.call_ns, s.host_ns, s.profiler_ns, s.queued_ns, s.unknown_ns] END || CASE s.time_basis WHEN 'gpu_period' THEN [s.between_ns] ELSE [] END AS parts,
        CASE WHEN s.kernel_ns IS NULL THEN ['busy', 'idle', 'between'] ELSE ['kernel', 'graph', 'copy', 'other', 'launch-bound', 'synchronising', 'cuda-call', 'host-bound', 'profiler', 'queued', 'unknown', 'between'] END AS causes
    FROM _step(run, device := device, source := source) s
), kind AS MATERIALIZED (
    SELECT p.source_id, p.pid, p.device_id, p.stage, p.name, min(p.id) AS kind, count(*) AS n, median(p.time_ns) AS median_ns
    FROM parted p WHERE p.time_ns IS NOT NULL AND NOT p.is_warmup AND (stage IS NULL OR p.stage = stage) GROUP BY ALL
), s AS MATERIALIZED (
    SELECT p.id, p.nth, p.basis, p.source_id, p.pid, p.device_id, p.range_id, p.stage, p.name, p.start_ns, p.time_ns, p.time_basis, p.period_ns, p.parts, p.causes, k.kind, k.n, k.median_ns
    FROM parted p JOIN kind k ON k.source_id = p.source_id AND k.pid IS NOT DISTINCT FROM p.pid AND k.device_id IS NOT DISTINCT FROM p.device_id AND k.stage = p.stage AND k.name = p.name
    WHERE p.time_ns IS NOT NULL AND NOT p.is_warmup
), slow AS MATERIALIZED (
    SELECT s.id, s.kind, row_number() OVER (ORDER BY s.time_ns - s.median_ns DESC, s.id) AS rank FROM s WHERE s.time_ns > s.median_ns QUALIFY top = 0 OR rank <= top
), part AS (
    SELECT s.id, s.kind, unnest(s.parts) AS ns, unnest(s.causes[1:len(s.parts)]) AS cause, generate_subscripts(s.parts, 1) AS place FROM s WHERE s.kind IN (SELECT w.kind FROM slow w)
), usual AS (
    SELECT p.kind, p.cause, median(p.ns) AS ns FROM part p GROUP BY ALL
), cause AS (
    SELECT p.id, p.cause, p.ns - u.ns AS ns
    FROM part p JOIN slow w ON w.id = p.id JOIN usual u ON u.kind = p.kind AND u.cause = p.cause
    WHERE p.ns > u.ns QUALIFY row_number() OVER (PARTITION BY p.id ORDER BY p.ns - u.ns DESC, p.place) = 1
), ran AS (
    SELECT s.id, s.kind, s.n, k.kernel_name_id, sum(k.duration_ns)::BIGINT AS ns
    FROM kernel k JOIN range_context c ON c.run_id = k.run_id AND c.range_context_id = k.range_context_id JOIN s ON s.range_id = c.range_id AND s.device_id = k.device_id
    WHERE k.run_id = run AND s.kind IN (SELECT w.kind FROM slow w)
    GROUP BY ALL
    UNION ALL
    SELECT s.id, s.kind, s.n, k.kernel_name_id, sum(k.duration_ns)::BIGINT AS ns
    FROM (SELECT k.source_id, coalesce(k.pid, -1) AS pid, k.device_id, k.start_ns, k.duration_ns, k.kernel_name_id FROM kernel k WHERE k.run_id = run AND k.source_id IN (SELECT s.source_id FROM s WHERE s.basis = 'period')) k
    ASOF JOIN (SELECT s.id, s.kind, s.n, s.source_id, coalesce(s.pid, -1) AS pid, s.device_id, s.start_ns, s.start_ns + s.period_ns AS until_ns FROM s WHERE s.basis = 'period') s
        ON s.source_id = k.source_id AND s.pid = k.pid AND s.device_id = k.device_id AND s.start_ns <= k.start_ns
    WHERE k.start_ns < s.until_ns AND s.kind IN (SELECT w.kind FROM slow w)
    GROUP BY ALL
), typical AS ( -- a step without the kernel has 0 of it
    SELECT r.kind, r.kernel_name_id, list_median(list_resize(list(r.ns), any_value(r.n), 0)) AS ns FROM ran r GROUP BY ALL
), kernel_excess AS (
    SELECT r.id, r.kernel_name_id, r.ns - t.ns AS ns
    FROM ran r JOIN slow w ON w.id = r.id JOIN typical t ON t.kind = r.kind AND t.kernel_name_id = r.kernel_name_id JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = r.kernel_name_id
    WHERE r.ns > t.ns QUALIFY row_number() OVER (PARTITION BY r.id ORDER BY r.ns - t.ns DESC, n.name_hash) = 1
)
SELECT w.rank, s.nth, s.time_ns, s.time_ns - s.median_ns AS excess_ns, c.cause, c.ns AS cause_ns, s.stage, e.ns AS kernel_excess_ns, n.name AS kernel,
    s.median_ns, s.name, s.device_id AS device, s.time_basis, s.start_ns, s.basis, s.source_id, s.pid, s.range_id
FROM slow w JOIN s ON s.id = w.id
LEFT JOIN cause c ON c.id = w.id
LEFT JOIN kernel_excess e ON e.id = w.id
LEFT JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = e.kernel_name_id
ORDER BY w.rank
