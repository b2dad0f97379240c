-- _ncu-line: What Nsight Compute measured at each line of source or PTX, or instruction, of profiled kernels.
-- grain: one line or instruction of one kernel
-- key: kernel, file, line, function, code_offset
-- params:
--   run VARCHAR: the run
--   kernel VARCHAR = NULL: only kernels whose name contains this, ignoring case
--   launch BIGINT = NULL: only this launch
--   stage VARCHAR = NULL: only launches in this stage; (none) for launches outside every stage
--   by VARCHAR = NULL: group by line, ptx or instruction; default: by line the code that has lines, and by instruction the rest
-- columns:
--   kernel: kernel name as Nsight Compute spells it
--   file: source file, or text of the PTX; NULL when not known
--   line: line in the file; NULL when not known
--   function: mangled name of the function that the instruction is in; NULL for a line
--   code_offset: place of the instruction in its function, in bytes from its start; NULL for a line
--   opcode: operation of the instruction; of a line, that with the most samples; NULL when not known
--   launches: profiled launches with values at instructions
--   instruction_count: instructions in the GPU's code
--   time_ns: estimated share of the replay times: each launch's in proportion to samples; NULL without samples
--   kernel_time_ns: that of the whole kernel
--   samples: samples of warps
--   kernel_samples: those of the whole kernel
--   stall: stall reason with the most samples; NULL when no sample is stalled
--   stall_samples: samples with this reason
--   executed_count: instructions executed, by warp
--   thread_count: instructions executed, by thread
--   true_thread_count: those of threads that their predicate did not disable
--   divergent_branch_count: branches on which threads of a warp diverged
--   global_sector_count: sectors of 32 bytes that accesses to global memory ask of L2
--   global_sector_ideal_count: those that the same bytes need at least
--   shared_wavefront_count: passes that accesses to shared memory take
--   shared_wavefront_ideal_count: those without bank conflicts
--   code: text of the line; NULL when the report does not have it

WITH asked AS (
    SELECT CASE
        WHEN "by" IS NULL OR "by" IN ('line', 'ptx', 'instruction') THEN coalesce("by", '')
        ELSE error('ARGUMENT: --by is line, ptx or instruction')
    END AS grouping
), l AS (
    SELECT
        m.launch_id,
        m.source_id,
        m.kernel_name_id,
        n.name AS kernel,
        m.duration_ns
    FROM ncu_measure m
    JOIN kernel_name n ON n.run_id = m.run_id AND n.kernel_name_id = m.kernel_name_id
    WHERE m.run_id = run
        AND (launch IS NULL OR _id_number(m.launch_id) - 1 = launch)
        AND (kernel IS NULL OR contains(lower(n.name), lower(kernel)))
        AND (stage IS NULL OR coalesce(m.stage, '(none)') = stage)
), metric AS (
    SELECT
        n.metric_id,
        n.name,
        CASE
            WHEN n.name NOT LIKE '%\_not\_issued' ESCAPE '\'
                THEN nullif(regexp_extract(n.name, '^smsp__pcsamp_warps_issue_stalled_(.+)$', 1), '')
        END AS reason
    FROM ncu_metric_name n
    WHERE n.run_id = run
        AND (
            n.name IN (
                'smsp__pcsamp_sample_count', 'inst_executed', 'thread_inst_executed', 'thread_inst_executed_true',
                'smsp__branch_targets_threads_divergent', 'memory_l2_theoretical_sectors_global',
                'memory_l2_theoretical_sectors_global_ideal', 'memory_l1_wavefronts_shared',
                'memory_l1_wavefronts_shared_ideal'
            )
            OR n.name LIKE 'smsp\_\_pcsamp\_warps\_issue\_stalled\_%' ESCAPE '\'
        )
), instruction AS (
    SELECT
        i.source_id,
        i.function_id,
        i.offset_bytes AS offset_at,
        CASE WHEN asked.grouping = 'ptx' THEN i.ptx_file_id ELSE i.file_id END AS file_id,
        CASE WHEN asked.grouping = 'ptx' THEN i.ptx_line ELSE i.line END AS line,
        i.opcode,
        asked.grouping
    FROM ncu_instruction i CROSS JOIN asked
    WHERE i.run_id = run
), lined AS (
    SELECT DISTINCT i.source_id, i.function_id
    FROM instruction i
    WHERE i.line IS NOT NULL
), place AS (
    SELECT
        i.source_id,
        i.function_id,
        i.offset_at,
        i.file_id,
        f.name AS file,
        i.line,
        CASE
            WHEN i.grouping = 'instruction' OR i.grouping = '' AND lined.function_id IS NULL THEN i.offset_at
        END AS code_offset,
        n.symbol,
        i.opcode
    FROM instruction i
    JOIN ncu_function n ON n.run_id = run AND n.source_id = i.source_id AND n.function_id = i.function_id
    LEFT JOIN lined ON lined.source_id = i.source_id AND lined.function_id = i.function_id
    LEFT JOIN ncu_source_file f ON f.run_id = run AND f.source_id = i.source_id AND f.file_id = i.file_id
), numbered AS (
    SELECT
        p.source_id,
        p.function_id,
        p.offset_at,
        p.file_id,
        p.file,
        p.line,
        p.code_offset,
        CASE WHEN p.code_offset IS NOT NULL THEN p.symbol END AS "function",
        p.symbol,
        p.opcode,
        dense_rank() OVER (
            ORDER BY p.file, p.line, p.code_offset, CASE WHEN p.code_offset IS NOT NULL THEN p.symbol END
        ) AS place_id
    FROM place p
), text AS ( -- lines of the files
    SELECT
        f.source_id,
        f.file_id,
        unnest(string_split(f.text, chr(10))) AS code,
        generate_subscripts(string_split(f.text, chr(10)), 1) AS line
    FROM ncu_source_file f SEMI JOIN place p ON p.source_id = f.source_id AND p.file_id = f.file_id
    WHERE f.run_id = run AND f.text IS NOT NULL
), spot AS ( -- values of lines or instructions by launch
    SELECT
        l.launch_id,
        l.kernel,
        l.duration_ns,
        p.place_id,
        p.opcode,
        m.name,
        m.reason,
        sum(x.value) AS value
    FROM ncu_instance x
    JOIN l ON l.launch_id = x.launch_id
    JOIN metric m ON m.metric_id = x.metric_id
    JOIN numbered p ON p.source_id = x.source_id AND p.function_id = x.function_id AND p.offset_at = x.offset_bytes
    WHERE x.run_id = run
    GROUP BY l.launch_id, l.kernel, l.duration_ns, p.place_id, p.opcode, m.name, m.reason
), sampled AS (
    SELECT
        a.kernel,
        a.place_id,
        a.opcode,
        a.duration_ns * a.value / sum(a.value) OVER (PARTITION BY a.launch_id) AS time_ns,
        a.value
    FROM spot a
    WHERE a.name = 'smsp__pcsamp_sample_count'
), timed AS (
    SELECT
        s.kernel,
        s.place_id,
        sum(s.time_ns) AS time_ns
    FROM sampled s
    GROUP BY s.kernel, s.place_id
), whole AS (
    SELECT
        s.kernel,
        sum(s.time_ns) AS time_ns,
        sum(s.value)::BIGINT AS samples
    FROM sampled s
    GROUP BY s.kernel
), operation AS (
    SELECT
        s.kernel,
        s.place_id,
        s.opcode,
        sum(s.value) AS samples
    FROM sampled s
    WHERE s.opcode IS NOT NULL
    GROUP BY s.kernel, s.place_id, s.opcode
), top_operation AS (
    SELECT
        o.kernel,
        o.place_id,
        arg_max(o.opcode, (o.samples, o.opcode)) AS opcode
    FROM operation o
    GROUP BY o.kernel, o.place_id
), stalled AS (
    SELECT
        a.kernel,
        a.place_id,
        replace(a.reason, '_', ' ') AS stall,
        sum(a.value)::BIGINT AS samples
    FROM spot a
    WHERE a.reason IS NOT NULL AND a.reason <> 'selected'
    GROUP BY a.kernel, a.place_id, a.reason
), top_stall AS (
    SELECT
        s.kernel,
        s.place_id,
        arg_max(s.stall, (s.samples, s.stall)) AS stall,
        max(s.samples) AS samples
    FROM stalled s
    GROUP BY s.kernel, s.place_id
), total AS (
    SELECT
        a.kernel,
        a.place_id,
        sum(a.value) FILTER (a.name = 'smsp__pcsamp_sample_count')::BIGINT AS samples,
        sum(a.value) FILTER (a.name = 'inst_executed')::BIGINT AS executed_count,
        sum(a.value) FILTER (a.name = 'thread_inst_executed')::BIGINT AS thread_count,
        sum(a.value) FILTER (a.name = 'thread_inst_executed_true')::BIGINT AS true_thread_count,
        sum(a.value) FILTER (a.name = 'smsp__branch_targets_threads_divergent')::BIGINT AS divergent_branch_count,
        sum(a.value) FILTER (a.name = 'memory_l2_theoretical_sectors_global')::BIGINT AS global_sector_count,
        sum(a.value) FILTER (
            a.name = 'memory_l2_theoretical_sectors_global_ideal'
        )::BIGINT AS global_sector_ideal_count,
        sum(a.value) FILTER (a.name = 'memory_l1_wavefronts_shared')::BIGINT AS shared_wavefront_count,
        sum(a.value) FILTER (a.name = 'memory_l1_wavefronts_shared_ideal')::BIGINT AS shared_wavefront_ideal_count
    FROM spot a
    GROUP BY a.kernel, a.place_id
), used AS ( -- functions whose instructions launches have values of
    SELECT DISTINCT l.kernel, x.launch_id, x.source_id, x.function_id
    FROM ncu_instance x JOIN l ON l.launch_id = x.launch_id
    WHERE x.run_id = run
), many AS (
    SELECT
        u.kernel,
        count(DISTINCT u.launch_id) AS launches
    FROM used u
    GROUP BY u.kernel
), here AS (
    SELECT
        u.kernel,
        p.place_id,
        p.file,
        p.line,
        p.code_offset,
        p."function",
        CASE WHEN p.code_offset IS NOT NULL THEN min(p.opcode) END AS opcode,
        count(DISTINCT (coalesce(p.symbol, ''), p.offset_at)) AS instruction_count,
        min(trim(replace(t.code, chr(9), ' '), ' ' || chr(13))) AS code
    FROM (SELECT DISTINCT u.kernel, u.source_id, u.function_id FROM used u) u
    JOIN numbered p ON p.source_id = u.source_id AND p.function_id = u.function_id
    LEFT JOIN text t ON t.source_id = p.source_id AND t.file_id = p.file_id AND t.line = p.line
    GROUP BY u.kernel, p.place_id, p.file, p.line, p.code_offset, p."function"
), has AS ( -- what was collected: what has no value at an instruction is 0 there
    SELECT
        l.kernel,
        list(DISTINCT m.name) AS names
    FROM ncu_metric x JOIN l ON l.launch_id = x.launch_id JOIN metric m ON m.metric_id = x.metric_id
    WHERE x.run_id = run
    GROUP BY l.kernel
)
SELECT
    h.kernel,
    h.file,
    h.line,
    h."function",
    h.code_offset,
    coalesce(h.opcode, o.opcode) AS opcode,
    n.launches,
    h.instruction_count,
    CASE WHEN w.samples > 0 THEN coalesce(d.time_ns, 0) END AS time_ns,
    w.time_ns AS kernel_time_ns,
    CASE WHEN list_contains(c.names, 'smsp__pcsamp_sample_count') THEN coalesce(t.samples, 0) END AS samples,
    w.samples AS kernel_samples,
    s.stall,
    s.samples AS stall_samples,
    CASE WHEN list_contains(c.names, 'inst_executed') THEN coalesce(t.executed_count, 0) END AS executed_count,
    CASE WHEN list_contains(c.names, 'thread_inst_executed') THEN coalesce(t.thread_count, 0) END AS thread_count,
    CASE
        WHEN list_contains(c.names, 'thread_inst_executed_true') THEN coalesce(t.true_thread_count, 0)
    END AS true_thread_count,
    CASE
        WHEN list_contains(c.names, 'smsp__branch_targets_threads_divergent') THEN coalesce(t.divergent_branch_count, 0)
    END AS divergent_branch_count,
    CASE
        WHEN list_contains(c.names, 'memory_l2_theoretical_sectors_global') THEN coalesce(t.global_sector_count, 0)
    END AS global_sector_count,
    CASE
        WHEN list_contains(c.names, 'memory_l2_theoretical_sectors_global_ideal')
            THEN coalesce(t.global_sector_ideal_count, 0)
    END AS global_sector_ideal_count,
    CASE
        WHEN list_contains(c.names, 'memory_l1_wavefronts_shared') THEN coalesce(t.shared_wavefront_count, 0)
    END AS shared_wavefront_count,
    CASE
        WHEN list_contains(c.names, 'memory_l1_wavefronts_shared_ideal')
            THEN coalesce(t.shared_wavefront_ideal_count, 0)
    END AS shared_wavefront_ideal_count,
    h.code
FROM here h
JOIN many n ON n.kernel = h.kernel
LEFT JOIN has c ON c.kernel = h.kernel
LEFT JOIN whole w ON w.kernel = h.kernel
LEFT JOIN total t ON t.kernel = h.kernel AND t.place_id = h.place_id
LEFT JOIN timed d ON d.kernel = h.kernel AND d.place_id = h.place_id
LEFT JOIN top_stall s ON s.kernel = h.kernel AND s.place_id = h.place_id
LEFT JOIN top_operation o ON o.kernel = h.kernel AND o.place_id = h.place_id
