-- kernel-stacks v1: Kernels by what launched them: stage, ranges and operators around the launch. For flame graphs: the rows add up to all kernels of the capture.
-- grain: one stage, pass, chain of ranges and operators, kernel, process, GPU and stream
-- key: source_id, pid, device, stream, stage, pass, is_warmup, ranges, operators, kernel
-- notes: timelines graph launch
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only kernels launched in this stage; (none) for kernels outside every stage
--   device BIGINT = NULL: only this GPU
--   source VARCHAR = NULL: only this kind of capture: nsys, prof, rocprof, torch, xla or nsys-stats; default: the first of these that the run has
-- columns:
--   stage: the stage; (none) outside every stage
--   pass: pass number within the stage, as in passes; NULL outside passes
--   is_warmup: whether stages excludes the pass
--   ranges: normalised names of the ranges around the launch, outermost first, as a JSON list; [] outside every range, NULL when the launch was not captured
--   operators: names of the operators around the launch, outermost first, as a JSON list; [] outside every operator
--   kernel: full kernel name
--   family: kernel family by kernel_rule; NULL when no rule matches
--   role: what kernels of the family do; NULL when no rule matches
--   source_id: the source
--   pid: process that launched them
--   rank_id: rank of the process; NULL when unknown
--   device: GPU
--   stream: CUDA stream
--   calls: executions
--   total_ns: sum of their durations
--   launch_ns: time in the calls that launched them; NULL when no launch was captured, and of kernels that a graph launched, whose call launches many

WITH RECURSIVE k AS (
    SELECT k.source_id, k.pid, k.device_id, k.stream_id, coalesce(s.stage, '(none)') AS stage, x.range_id AS pass_range_id, k.path_id, k.op_id, k.kernel_name_id, count(*) AS calls, sum(k.duration_ns)::BIGINT AS total_ns,
        (sum(k.launch_duration_ns) FILTER (k.graph_node_id IS NULL))::BIGINT AS launch_ns
    FROM kernel k
    LEFT JOIN path_stage s ON s.run_id = k.run_id AND s.path_id = k.path_id
    LEFT JOIN pass_context x ON x.run_id = k.run_id AND x.range_context_id = k.range_context_id
    WHERE k.run_id = run AND k.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t) AND (device IS NULL OR k.device_id = device) AND (stage IS NULL OR coalesce(s.stage, '(none)') = stage)
    GROUP BY ALL
), up AS ( -- from each operator that launched a kernel to the outermost one around it
    SELECT DISTINCT k.source_id, k.op_id AS leaf, k.op_id AS at, 0 AS step FROM k WHERE k.op_id IS NOT NULL
    UNION ALL
    SELECT u.source_id, u.leaf, o.parent_op_id, u.step + 1 FROM up u JOIN op o ON o.run_id = run AND o.source_id = u.source_id AND o.op_id = u.at WHERE o.parent_op_id IS NOT NULL
), chain AS (
    SELECT u.source_id, u.leaf, list(n.name ORDER BY u.step DESC) AS names
    FROM up u JOIN op o ON o.run_id = run AND o.source_id = u.source_id AND o.op_id = u.at JOIN op_name n ON n.run_id = run AND n.op_name_id = o.op_name_id
    GROUP BY u.source_id, u.leaf
), around AS (
    SELECT p.path_id, list(a.name ORDER BY a.depth) AS names
    FROM range_path p, unnest(p.lineage) u(ancestor), range_path a
    WHERE p.run_id = run AND a.run_id = run AND a.path_id = u.ancestor GROUP BY p.path_id
)
SELECT k.stage, p.pass_id AS pass, coalesce(p.is_warmup, false) AS is_warmup, CASE WHEN k.path_id IS NOT NULL THEN to_json(coalesce(r.names, []))::VARCHAR END AS ranges, to_json(coalesce(c.names, []))::VARCHAR AS operators,
    n.name AS kernel, f.family, f.role, k.source_id, k.pid, q.rank_id, k.device_id AS device, k.stream_id AS stream, sum(k.calls)::BIGINT AS calls, sum(k.total_ns)::BIGINT AS total_ns, sum(k.launch_ns)::BIGINT AS launch_ns
FROM k
JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = k.kernel_name_id
LEFT JOIN kernel_class f ON f.run_id = run AND f.kernel_name_id = k.kernel_name_id
LEFT JOIN stage_pass p ON p.run_id = run AND p.source_id = k.source_id AND p.range_id = k.pass_range_id
LEFT JOIN process q ON q.run_id = run AND q.source_id = k.source_id AND q.pid = k.pid
LEFT JOIN around r ON r.path_id = k.path_id
LEFT JOIN chain c ON c.source_id = k.source_id AND c.leaf = k.op_id
GROUP BY ALL
ORDER BY k.source_id, k.pid, k.device_id, k.stream_id, k.stage, pass, is_warmup, ranges, operators, kernel
