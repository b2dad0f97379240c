-- ncu-plan v1: Launches that Nsight Compute should profile: of the kernels that take the most time, by shape and stage.
-- grain: one launch to profile
-- key: kernel, invocation
-- notes: plan
-- params:
--   run VARCHAR: the run
--   top BIGINT = 10: maximum kernels; 0 for all
--   per_kernel BIGINT = 2: maximum launches per kernel; 0 for all
--   stage VARCHAR = NULL: only measured passes of this stage; default: of every stage
--   early BOOLEAN = false: launches that come early in the process, of warm-up too, instead of some from the middle of the measured passes
-- columns:
--   rank: rank of the kernel by its time in measured passes, over repeats and processes; ranks of skipped kernels are missing
--   kernel: kernel name
--   symbol: mangled name, which ncu selects it by
--   invocation: number of the launch among all launches of the symbol in its process, in order of the launching calls, from 1: ncu counts
--     from the start of the process
--   stage: stage of the launch; (none) when the run has no measured pass and all kernels count
--   grid: grid size in blocks, x * y * z; NULL when the capture has none
--   block: block size in threads, x * y * z; NULL when the capture has none
--   calls: executions of this kernel, stage, grid and block in measured passes
--   total_ns: sum of their times
--   source_id: source in which the launch was counted: the first of several repeats
--   pid: process
--   rank_id: rank of the process in its job; NULL when unknown
--   device: GPU
--   gpu_nth: place of the GPU among those of the source, from 1
--   process_count: processes of the source that ran kernels
--   device_count: GPUs on which they did
--   launch_count: launches of the symbol in its process: ncu profiles each of invocation up to it
--   start_ns: start on the GPU, from the start of the source

-- Long: one choice in nine steps, each of the one before: what was measured, its rank, where each shape is launched first, and how far
-- Nsight Compute must go to reach them. Collectives are left out: ncu replays a kernel by itself, and one that waits for other ranks would
-- never end. Of a kernel those combinations of stage, grid and block with the most time, and of each a launch about the middle of the
-- measured ones. Early ones are for processes that ncu does not start itself: there 2025.3.1 took 0.1 s for each launch of a chosen kernel
-- before the last one that it profiled, and some 1 s for one that it profiled. ncu is asked for kernels and for numbers apart, and profiles
-- each kernel at each number. So one number after the other is taken: the one that serves the most remaining combinations for each launch
-- that it has ncu profile, and of those the nearest the middle. (The greedy rule of weighted set cover.)
WITH RECURSIVE measured AS (
    SELECT
        w.kernel_name_id,
        coalesce(p.stage, '(none)') AS stage,
        w.grid_x,
        w.grid_y,
        w.grid_z,
        w.block_x,
        w.block_y,
        w.block_z,
        sum(w.launch_count)::BIGINT AS calls,
        sum(w.sum_ns)::BIGINT AS total_ns,
        min(w.source_id) AS source_id
    FROM work_sum w
    JOIN timeline t ON t.run_id = w.run_id AND t.source_id = w.source_id AND t.is_counted AND t.kind <> 'torch'
    LEFT JOIN stage_pass p ON p.run_id = w.run_id AND p.range_id = w.range_id AND NOT p.is_warmup
    WHERE w.run_id = run
        AND w.kind = 'kernel'
        AND (stage IS NULL OR coalesce(p.stage, '(none)') = stage)
        AND (
            p.range_id IS NOT NULL
            OR NOT EXISTS (
                SELECT 1
                FROM stage_pass x
                JOIN timeline y ON y.run_id = x.run_id AND y.source_id = x.source_id
                WHERE x.run_id = run AND y.is_counted AND y.kind <> 'torch' AND NOT x.is_warmup
            )
        )
    GROUP BY w.kernel_name_id, p.stage, w.grid_x, w.grid_y, w.grid_z, w.block_x, w.block_y, w.block_z
), ranked AS (
    SELECT
        m.kernel_name_id,
        n.name,
        s.symbol,
        max(m.total_ns) AS most_ns,
        row_number() OVER (ORDER BY sum(m.total_ns) DESC, n.name) AS rank
    FROM measured m
    JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = m.kernel_name_id
    ANTI JOIN (
        SELECT c.kernel_name_id
        FROM kernel_class c
        WHERE c.run_id = run AND c.role = 'collective'
    ) w ON w.kernel_name_id = m.kernel_name_id
    LEFT JOIN (
        SELECT
            y.kernel_name_id,
            min(y.symbol) AS symbol
        FROM kernel_symbol y
        WHERE y.run_id = run
        GROUP BY y.kernel_name_id
        HAVING count(*) = 1
    ) s ON s.kernel_name_id = m.kernel_name_id
    GROUP BY m.kernel_name_id, n.name, s.symbol
), wanted AS (
    SELECT r.kernel_name_id, r.name, r.symbol, r.rank, r.most_ns
    FROM ranked r
    WHERE r.symbol IS NOT NULL
    ORDER BY r.rank
    LIMIT CASE WHEN top > 0 THEN top END
), launch AS ( -- of the kernels and sources that are asked for, warm-up and all that came before included
    SELECT
        k.source_id,
        k.pid,
        k.device_id,
        k.kernel_name_id,
        k.range_context_id,
        h.grid_x,
        h.grid_y,
        h.grid_z,
        h.block_x,
        h.block_y,
        h.block_z,
        k.start_ns,
        row_number() OVER (
            PARTITION BY k.source_id, k.pid, k.kernel_name_id
            ORDER BY coalesce(k.launch_start_ns, k.start_ns), k.start_ns, k.correlation_id, k.device_id, k.stream_id,
                k.graph_node_id
        ) AS invocation,
        row_number() OVER (
            PARTITION BY k.source_id, k.pid
            ORDER BY coalesce(k.launch_start_ns, k.start_ns), k.start_ns, k.correlation_id, k.device_id, k.stream_id,
                k.graph_node_id
        ) AS in_process
    FROM kernel k
    SEMI JOIN (
        SELECT DISTINCT w.kernel_name_id, m.source_id
        FROM wanted w JOIN measured m ON m.kernel_name_id = w.kernel_name_id
    ) f ON f.kernel_name_id = k.kernel_name_id AND f.source_id = k.source_id
    LEFT JOIN kernel_shape h ON h.run_id = k.run_id AND h.kernel_shape_id = k.kernel_shape_id
    WHERE k.run_id = run
), first AS ( -- when each combination is first launched, as far as that counts
    SELECT
        l.source_id,
        l.kernel_name_id,
        coalesce(x.stage, '(none)') AS stage,
        l.grid_x,
        l.grid_y,
        l.grid_z,
        l.block_x,
        l.block_y,
        l.block_z,
        min(l.in_process) AS in_process
    FROM launch l
    LEFT JOIN pass_context x ON x.run_id = run AND x.range_context_id = l.range_context_id
    WHERE early
    GROUP BY l.source_id, l.kernel_name_id, x.stage, l.grid_x, l.grid_y, l.grid_z, l.block_x, l.block_y, l.block_z
), picked AS ( -- early: of those with half as much time as the longest, those launched first; a kernel may have another grid in each step
    SELECT
        w.rank,
        w.name,
        w.symbol,
        m.kernel_name_id,
        m.stage,
        m.grid_x,
        m.grid_y,
        m.grid_z,
        m.block_x,
        m.block_y,
        m.block_z,
        m.calls,
        m.total_ns,
        m.source_id,
        row_number() OVER (
            PARTITION BY m.kernel_name_id
            ORDER BY early AND 2 * m.total_ns < w.most_ns, CASE WHEN early THEN f.in_process END, m.total_ns DESC,
                m.stage, m.grid_x, m.grid_y, m.grid_z, m.block_x, m.block_y, m.block_z
        ) AS nth
    FROM measured m
    JOIN wanted w ON w.kernel_name_id = m.kernel_name_id
    LEFT JOIN first f
        ON f.source_id = m.source_id
        AND f.kernel_name_id = m.kernel_name_id
        AND f.stage = m.stage
        AND f.grid_x IS NOT DISTINCT FROM m.grid_x
        AND f.grid_y IS NOT DISTINCT FROM m.grid_y
        AND f.grid_z IS NOT DISTINCT FROM m.grid_z
        AND f.block_x IS NOT DISTINCT FROM m.block_x
        AND f.block_y IS NOT DISTINCT FROM m.block_y
        AND f.block_z IS NOT DISTINCT FROM m.block_z
    QUALIFY per_kernel = 0 OR nth <= per_kernel
), near AS ( -- in the first process that has some
    SELECT
        l.invocation,
        l.in_process,
        l.start_ns,
        l.pid,
        l.device_id,
        p.kernel_name_id,
        p.nth,
        row_number() OVER one AS place,
        count(*) OVER whole AS launches,
        abs(place - CASE WHEN early THEN 1 ELSE (launches + 1) // 2 END) AS away
    FROM launch l
    LEFT JOIN pass_context x
        ON x.run_id = run AND x.range_context_id = l.range_context_id AND (NOT x.is_warmup OR early)
    JOIN picked p
        ON p.kernel_name_id = l.kernel_name_id
        AND p.source_id = l.source_id
        AND p.stage = coalesce(x.stage, '(none)')
        AND p.grid_x IS NOT DISTINCT FROM l.grid_x
        AND p.grid_y IS NOT DISTINCT FROM l.grid_y
        AND p.grid_z IS NOT DISTINCT FROM l.grid_z
        AND p.block_x IS NOT DISTINCT FROM l.block_x
        AND p.block_y IS NOT DISTINCT FROM l.block_y
        AND p.block_z IS NOT DISTINCT FROM l.block_z
    WINDOW whole AS (PARTITION BY p.kernel_name_id, p.nth, l.pid),
        one AS (PARTITION BY p.kernel_name_id, p.nth, l.pid ORDER BY l.invocation)
    QUALIFY away <= CASE WHEN early THEN 20 ELSE 2000 END
        AND l.pid IS NOT DISTINCT FROM min(l.pid) OVER (PARTITION BY p.kernel_name_id, p.nth)
), total AS (
    SELECT
        l.source_id,
        l.pid,
        l.kernel_name_id,
        count(*) AS launch_count
    FROM launch l
    GROUP BY l.source_id, l.pid, l.kernel_name_id
), reach AS ( -- what ncu profiles at a number: the kernels that have so many launches
    SELECT
        l.invocation,
        count(*) AS profiled
    FROM launch l
    GROUP BY l.invocation
), served(invocation, combinations, done, reached) AS (
    -- one number after the other, each with the combinations that it serves, and the launches of chosen kernels up to the last one
    SELECT
        NULL::BIGINT AS invocation,
        []::STRUCT(kernel_name_id BIGINT, nth BIGINT)[] AS combinations,
        []::STRUCT(kernel_name_id BIGINT, nth BIGINT)[] AS done,
        0::BIGINT AS reached
    UNION ALL
    SELECT
        n.invocation,
        list({'kernel_name_id': n.kernel_name_id, 'nth': n.nth}) AS combinations,
        list_concat(s.done, list({'kernel_name_id': n.kernel_name_id, 'nth': n.nth})) AS done,
        greatest(s.reached, max(n.in_process)) AS reached
    FROM served s
    JOIN near n ON NOT list_contains(s.done, {'kernel_name_id': n.kernel_name_id, 'nth': n.nth})
    JOIN reach r ON r.invocation = n.invocation
    GROUP BY n.invocation, s.done, s.reached, r.profiled
    QUALIFY row_number() OVER (
            ORDER BY count(*)
                    / (
                        r.profiled + CASE WHEN early THEN 0.1 * greatest(max(n.in_process) - s.reached, 0) ELSE 0 END
                    ) DESC, sum(n.away), n.invocation
        )
            = 1
), chosen AS (
    SELECT n.invocation, n.start_ns, n.pid, n.device_id, n.kernel_name_id, n.nth
    FROM (SELECT s.invocation, unnest(s.combinations) AS one FROM served s) c
    JOIN near n ON n.invocation = c.invocation AND n.kernel_name_id = c.one.kernel_name_id AND n.nth = c.one.nth
)
SELECT
    p.rank,
    p.name AS kernel,
    p.symbol,
    c.invocation,
    p.stage,
    _dims(p.grid_x, p.grid_y, p.grid_z) AS grid,
    _dims(p.block_x, p.block_y, p.block_z) AS block,
    p.calls,
    p.total_ns,
    p.source_id,
    c.pid,
    coalesce(o.rank_id, said.rank_id) AS rank_id,
    c.device_id AS device,
    (
        SELECT count(DISTINCT k.device_id)
        FROM kernel k
        WHERE k.run_id = run AND k.source_id = p.source_id AND k.device_id <= c.device_id
    ) AS gpu_nth,
    ran.process_count,
    ran.device_count,
    total.launch_count,
    c.start_ns
FROM chosen c
JOIN picked p ON p.kernel_name_id = c.kernel_name_id AND p.nth = c.nth
JOIN (
    SELECT
        k.source_id,
        count(DISTINCT k.pid) AS process_count,
        count(DISTINCT k.device_id) AS device_count
    FROM kernel k
    WHERE k.run_id = run
    GROUP BY k.source_id
) ran ON ran.source_id = p.source_id
JOIN total
    ON total.source_id = p.source_id
    AND total.pid IS NOT DISTINCT FROM c.pid
    AND total.kernel_name_id = c.kernel_name_id
LEFT JOIN process o ON o.run_id = run AND o.source_id = p.source_id AND o.pid = c.pid
LEFT JOIN (
    SELECT
        w.pid,
        min(w.rank_id) AS rank_id
    FROM workload_process w
    WHERE w.run_id = run
    GROUP BY w.pid
    HAVING min(w.rank_id) = max(w.rank_id)
) said ON said.pid = c.pid
ORDER BY p.rank, p.nth
