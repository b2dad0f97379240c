-- kernel-stacks v2: Kernels by what launched them: stage, ranges, modules and operators around the launch, with FLOP and bytes where known.
--     For flame graphs: the rows add up to all kernels of the capture.
-- grain: one stage, pass, chain of ranges, modules and operators, kernel, process, GPU and stream; and one operator that launched several
--     kernels, for its FLOP
-- key: source_id, pid, device, stream, stage, pass, is_warmup, ranges, modules, operators, kernel
-- notes: timelines graph launch match
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only kernels launched in this stage; (none) for kernels outside every stage
--   device BIGINT = NULL: only this GPU
--   {source}
-- columns:
--   stage: the stage; (none) outside every stage
--   pass: pass number within the stage, as in passes; NULL outside passes
--   is_warmup: whether stages excludes the pass
--   ranges: normalised names of the ranges around the launch, outermost first, as a JSON list; [] outside every range, NULL when the launch
--     was not captured
--   modules: names of the nn.Modules around the operators, outermost first, as a JSON list; [] outside every module and where Python stacks
--     were not recorded
--   operators: names of the operators around the launch, outermost first, as a JSON list; [] outside every operator
--   kernel: full kernel name; NULL for an operator that launched several kernels: the row has its formula_flop, which the formula does not
--     split among them
--   family: kernel family by kernel_rule; NULL when no rule matches
--   role: what kernels of the family do; NULL when no rule matches
--   source_id: the source
--   pid: process that launched them; NULL for an operator with kernels of several
--   rank_id: rank of the process; NULL when unknown
--   device: GPU; NULL likewise
--   stream: CUDA stream; NULL likewise
--   calls: executions
--   total_ns: sum of their durations
--   launch_ns: time in the calls that launched them; NULL when no launch was captured, and of kernels that a graph launched, whose call
--     launches many
--   measured_flop: FLOP that Nsight Compute counted, padding included: mean of the profiled launches of the same kernel, grid, block and
--     stage, as in ncu-matches, times the executions; NULL when none was profiled
--   measured_ns: part of total_ns in executions with measured_flop
--   dram_bytes: bytes read from and written to DRAM, likewise
--   dram_ns: part of total_ns in executions with dram_bytes
--   formula_flop: FLOP by PyTorch's formula of the operator that launched the kernel, of the outermost one with a formula where these nest;
--     NULL without one
--   formula_ns: part of total_ns launched by operators with a formula

-- Long: what surrounds a launch comes from ranges, modules, operators and those that called them, each with a table of its own.
WITH RECURSIVE k AS (
    SELECT
        k.source_id,
        k.pid,
        k.device_id,
        k.stream_id,
        coalesce(s.stage, '(none)') AS stage,
        x.range_id AS pass_range_id,
        k.path_id,
        k.op_id,
        k.kernel_name_id,
        k.kernel_shape_id,
        count(*) AS calls,
        sum(k.duration_ns)::BIGINT AS total_ns,
        (sum(k.launch_duration_ns) FILTER (k.graph_node_id IS NULL))::BIGINT AS launch_ns
    FROM kernel k
    LEFT JOIN path_stage s ON s.run_id = k.run_id AND s.path_id = k.path_id
    LEFT JOIN pass_context x ON x.run_id = k.run_id AND x.range_context_id = k.range_context_id
    WHERE k.run_id = run
        AND k.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
        AND (device IS NULL OR k.device_id = device)
        AND (stage IS NULL OR coalesce(s.stage, '(none)') = stage)
    GROUP BY ALL
), up AS ( -- from each operator that launched a kernel to the outermost one around it
    SELECT DISTINCT
        k.source_id,
        k.op_id AS leaf,
        k.op_id AS at,
        0 AS step
    FROM k
    WHERE k.op_id IS NOT NULL
    UNION ALL
    SELECT
        u.source_id,
        u.leaf,
        o.parent_op_id,
        u.step + 1
    FROM up u JOIN op o ON o.run_id = run AND o.source_id = u.source_id AND o.op_id = u.at
    WHERE o.parent_op_id IS NOT NULL
), around_op AS (
    SELECT u.source_id, u.leaf, u.at, u.step, n.name, o.flop_count
    FROM up u
    JOIN op o ON o.run_id = run AND o.source_id = u.source_id AND o.op_id = u.at
    JOIN op_name n ON n.run_id = run AND n.op_name_id = o.op_name_id
), owner AS ( -- what lies inside an operator with a formula is counted with it
    SELECT
        a.source_id,
        a.leaf,
        arg_max(a.at, a.step) AS op_id
    FROM around_op a
    WHERE a.flop_count IS NOT NULL
    GROUP BY a.source_id, a.leaf
), owned AS (
    SELECT
        k.source_id,
        w.op_id,
        sum(k.calls) AS calls,
        CASE WHEN min(k.pid) = max(k.pid) THEN min(k.pid) END AS pid,
        CASE WHEN min(k.device_id) = max(k.device_id) THEN min(k.device_id) END AS device_id,
        CASE WHEN min(k.stream_id) = max(k.stream_id) THEN min(k.stream_id) END AS stream_id
    FROM k JOIN owner w ON w.source_id = k.source_id AND w.leaf = k.op_id
    GROUP BY k.source_id, w.op_id
), shared AS ( -- a formula does not say which of several kernels did how much
    SELECT
        w.source_id,
        w.pid,
        w.device_id,
        w.stream_id,
        coalesce(s.stage, '(none)') AS stage,
        x.range_id AS pass_range_id,
        o.path_id,
        o.op_id,
        o.flop_count
    FROM owned w
    JOIN op o ON o.run_id = run AND o.source_id = w.source_id AND o.op_id = w.op_id
    LEFT JOIN path_stage s ON s.run_id = run AND s.path_id = o.path_id
    LEFT JOIN pass_context x ON x.run_id = run AND x.range_context_id = o.range_context_id
    WHERE w.calls > 1
), chain AS (
    SELECT
        a.source_id,
        a.leaf,
        list(a.name ORDER BY a.step DESC) AS names
    FROM around_op a
    GROUP BY a.source_id, a.leaf
    UNION ALL -- of operators that launched all their kernels by others inside
    SELECT DISTINCT
        h.source_id,
        h.op_id,
        list_reverse(list(a.name ORDER BY a.step) FILTER (a.step >= z.step))
    FROM shared h
    JOIN around_op z ON z.source_id = h.source_id AND z.at = h.op_id
    JOIN around_op a ON a.source_id = z.source_id AND a.leaf = z.leaf
    WHERE NOT EXISTS (SELECT 1 FROM k WHERE k.source_id = h.source_id AND k.op_id = h.op_id)
    GROUP BY h.source_id, h.op_id, z.leaf
), around AS (
    SELECT
        p.path_id,
        list(a.name ORDER BY a.depth) AS names
    FROM range_path p, unnest(p.lineage) u(ancestor), range_path a
    WHERE p.run_id = run AND a.run_id = run AND a.path_id = u.ancestor
    GROUP BY p.path_id
), profiled AS (
    SELECT
        m.timeline_name_id,
        l.grid,
        l.block,
        CASE
            WHEN l.path_id IS NULL OR m.matched_by = 'grid' AND l.stage IS NULL THEN '*'
            WHEN m.matched_by = 'grid' THEN '(none)'
            ELSE coalesce(l.stage, '(none)')
        END AS scope,
        _mean(l.flop) AS flop,
        _mean(l.dram_bytes) AS dram_bytes
    FROM ncu_match m JOIN ncu_measure l ON l.run_id = m.run_id AND l.launch_id = m.launch_id
    WHERE m.run_id = run AND _is_asked(m.kind, m.is_counted, source) AND m.matched_by IS NOT NULL
    GROUP BY ALL
), shape AS (
    SELECT
        h.kernel_shape_id,
        _dims(h.grid_x, h.grid_y, h.grid_z) AS grid,
        _dims(h.block_x, h.block_y, h.block_z) AS block
    FROM kernel_shape h
    WHERE h.run_id = run AND EXISTS (SELECT 1 FROM profiled)
), part AS (
    SELECT
        k.source_id,
        k.pid,
        k.device_id,
        k.stream_id,
        k.stage,
        k.pass_range_id,
        k.path_id,
        k.op_id,
        k.kernel_name_id,
        k.calls,
        k.total_ns,
        k.launch_ns,
        coalesce(p.flop, a.flop) * k.calls AS measured_flop,
        CASE WHEN coalesce(p.flop, a.flop) IS NOT NULL THEN k.total_ns END AS measured_ns,
        coalesce(p.dram_bytes, a.dram_bytes) * k.calls AS dram_bytes,
        CASE WHEN coalesce(p.dram_bytes, a.dram_bytes) IS NOT NULL THEN k.total_ns END AS dram_ns,
        CASE WHEN w.calls = 1 THEN o.flop_count END AS formula_flop,
        CASE WHEN o.flop_count IS NOT NULL THEN k.total_ns END AS formula_ns
    FROM k
    LEFT JOIN shape h ON h.kernel_shape_id = k.kernel_shape_id
    LEFT JOIN profiled p
        ON p.timeline_name_id = k.kernel_name_id AND p.grid = h.grid AND p.block = h.block AND p.scope = k.stage
    LEFT JOIN profiled a
        ON a.timeline_name_id = k.kernel_name_id AND a.grid = h.grid AND a.block = h.block AND a.scope = '*'
    LEFT JOIN owner f ON f.source_id = k.source_id AND f.leaf = k.op_id
    LEFT JOIN owned w ON w.source_id = f.source_id AND w.op_id = f.op_id
    LEFT JOIN op o ON o.run_id = run AND o.source_id = f.source_id AND o.op_id = f.op_id
    UNION ALL BY NAME
    SELECT
        h.source_id,
        h.pid,
        h.device_id,
        h.stream_id,
        h.stage,
        h.pass_range_id,
        h.path_id,
        h.op_id,
        0 AS calls,
        0 AS total_ns,
        h.flop_count AS formula_flop
    FROM shared h
)
SELECT
    k.stage,
    p.pass_id AS pass,
    coalesce(p.is_warmup, false) AS is_warmup,
    CASE WHEN k.path_id IS NOT NULL THEN to_json(coalesce(r.names, []))::VARCHAR END AS ranges,
    to_json(coalesce(string_split(y.module_path, ' > '), []))::VARCHAR AS modules,
    to_json(coalesce(c.names, []))::VARCHAR AS operators,
    n.name AS kernel,
    f.family,
    f.role,
    k.source_id,
    k.pid,
    q.rank_id,
    k.device_id AS device,
    k.stream_id AS stream,
    sum(k.calls)::BIGINT AS calls,
    sum(k.total_ns)::BIGINT AS total_ns,
    sum(k.launch_ns)::BIGINT AS launch_ns,
    list_sum(list(k.measured_flop ORDER BY k.measured_flop)) AS measured_flop,
    sum(k.measured_ns)::BIGINT AS measured_ns,
    list_sum(list(k.dram_bytes ORDER BY k.dram_bytes)) AS dram_bytes,
    sum(k.dram_ns)::BIGINT AS dram_ns,
    sum(k.formula_flop)::BIGINT AS formula_flop,
    sum(k.formula_ns)::BIGINT AS formula_ns
FROM part k
LEFT JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = k.kernel_name_id
LEFT JOIN kernel_class f ON f.run_id = run AND f.kernel_name_id = k.kernel_name_id
LEFT JOIN stage_pass p ON p.run_id = run AND p.source_id = k.source_id AND p.range_id = k.pass_range_id
LEFT JOIN process q ON q.run_id = run AND q.source_id = k.source_id AND q.pid = k.pid
LEFT JOIN around r ON r.path_id = k.path_id
LEFT JOIN chain c ON c.source_id = k.source_id AND c.leaf = k.op_id
LEFT JOIN op i ON i.run_id = run AND i.source_id = k.source_id AND i.op_id = k.op_id
LEFT JOIN python_stack y ON y.run_id = run AND y.stack_id = i.stack_id
GROUP BY ALL
ORDER BY k.source_id, k.pid, k.device_id, k.stream_id, k.stage, pass, is_warmup, ranges, modules, operators, kernel
