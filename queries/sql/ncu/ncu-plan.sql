-- ncu-plan v3: Launches that Nsight Compute should profile: of the kernels that take the most time, by shape and stage.
-- grain: one launch to profile
-- key: kernel, invocation
-- notes: plan
-- params:
--   run VARCHAR: the run
--   top BIGINT = 10: maximum kernels; 0 for all
--   per_kernel BIGINT = 2: maximum launches per kernel; 0 for all
--   stage VARCHAR = NULL: only measured passes of this stage; default: of every stage
--   early BOOLEAN = false: launches as early in the process as can be, of warm-up too, instead of those of the first measured pass
--   process BIGINT = NULL: only launches of this process; default: of the first one that has some
--   from_start BOOLEAN = false: nothing is skipped: numbers count from the start of the process
-- columns:
--   rank: rank of the kernel by its time in measured passes, over repeats and processes; ranks of skipped kernels are missing
--   kernel: kernel name
--   symbol: mangled name, which ncu selects it by
--   invocation: number of the launch among the launches of the symbol in its process after those of skip_count, in order of the launching
--     calls, from 1: ncu counts so; NULL of kernels of a CUDA graph with conditional nodes, which ncu only profiles as a whole
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
--   skip_count: launches of any kernel in its process that ncu is to skip (--launch-skip-before-match); the same of all its rows
--   match_nth: number of the launch among those of its process after the skipped ones that ncu matches, which are those of each chosen
--     kernel at each chosen number, in order of the launching calls, from 1: ncu profiles each up to the last one (--launch-count)
--   before_count: launches of any kernel in its process before it
--   start_ns: start on the GPU, from the start of the source
--   recording_ns: start on the GPU, from the start of the recording by prof capture and so of the workload; NULL when unknown

-- Long: one choice in ten steps, each of the one before: what was measured, its rank, where each shape is launched first, and how far
-- Nsight Compute must go to reach them. Collectives are left out: ncu replays a kernel by itself, and one that waits for other ranks would
-- never end. Of a kernel those combinations of stage, grid and block with the most time, and of each a launch in the first pass that was
-- measured; where none was marked, from the second quarter on. ncu is asked for kernels and for numbers apart, and matches each kernel at
-- each number. It skips all launches before that pass, those of a CUDA graph node by node, counts from there (2025.3.1), and ends with the
-- last chosen one: only what is matched between is profiled in vain. So one number after the other is taken: the one with the fewest of
-- these, and of those the one that serves the most remaining combinations, the earliest. (The greedy rule of weighted set cover; what
-- serves more costs more.) ncu slows every launch, chosen or not: to go 2000 launches of these kernels further counts as one that is
-- profiled. Early ones are for processes that ncu does not start itself: there 2025.3.1 took 0.1 s for each launch of a chosen kernel
-- before the last one that it profiled, and some 1 s for one that it profiled.
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
), counted AS ( -- all kernels of the sources that count
    SELECT
        k.source_id,
        k.pid,
        k.device_id,
        k.kernel_name_id,
        k.range_context_id,
        k.kernel_shape_id,
        k.start_ns,
        c.correlation_id IS NOT NULL AS is_barred,
        row_number() OVER (
            PARTITION BY k.source_id, k.pid
            ORDER BY coalesce(k.launch_start_ns, k.start_ns), k.start_ns, k.correlation_id, k.device_id, k.stream_id,
                k.graph_node_id
        ) AS in_process
    FROM kernel k
    SEMI JOIN measured m ON m.source_id = k.source_id
    LEFT JOIN ( -- replays of graphs with conditional nodes, none of whose kernels ncu profiles
        SELECT g.source_id, g.pid, g.correlation_id
        FROM graph_launch g
        WHERE g.run_id = run AND g.body_count > 0
        UNION
        SELECT g.source_id, g.pid, g.correlation_id
        FROM graph_launch g
        SEMI JOIN graph_launch b
            ON b.run_id = g.run_id
            AND b.source_id = g.source_id
            AND b.pid IS NOT DISTINCT FROM g.pid
            AND b.graph_id = g.graph_id
            AND b.body_count > 0
        WHERE g.run_id = run
    ) c
        ON c.source_id = k.source_id
        AND c.pid IS NOT DISTINCT FROM k.pid
        AND c.correlation_id = k.correlation_id
        AND k.graph_node_id IS NOT NULL
    WHERE k.run_id = run
), launch AS ( -- of the kernels that are asked for, warm-up and all that came before included
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
        k.is_barred,
        k.in_process,
        CASE
            WHEN NOT k.is_barred
                THEN row_number() OVER (PARTITION BY k.source_id, k.pid, k.kernel_name_id, k.is_barred ORDER BY k.in_process)
        END AS in_kernel
    FROM counted k
    SEMI JOIN (
        SELECT DISTINCT w.kernel_name_id, m.source_id
        FROM wanted w JOIN measured m ON m.kernel_name_id = w.kernel_name_id
    ) f ON f.kernel_name_id = k.kernel_name_id AND f.source_id = k.source_id
    LEFT JOIN kernel_shape h ON h.run_id = run AND h.kernel_shape_id = k.kernel_shape_id
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
), measured_launch AS ( -- in the first process that has some
    SELECT
        l.source_id,
        l.pid,
        l.device_id,
        l.start_ns,
        l.is_barred,
        l.in_process,
        l.in_kernel,
        p.kernel_name_id,
        p.nth,
        CASE WHEN NOT early THEN x.range_id END AS range_id,
        min(l.in_process) OVER (PARTITION BY p.kernel_name_id, p.nth, l.pid, CASE WHEN NOT early THEN x.range_id END) AS pass_from,
        row_number() OVER (PARTITION BY p.kernel_name_id, p.nth, l.pid ORDER BY l.in_process) AS place,
        count(*) OVER (PARTITION BY p.kernel_name_id, p.nth, l.pid) AS launches
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
    WHERE process IS NULL OR l.pid = process
    QUALIFY l.pid IS NOT DISTINCT FROM min(l.pid) OVER (PARTITION BY p.kernel_name_id, p.nth)
), place AS ( -- in the first two passes, or where none was marked, from the second quarter on
    SELECT
        m.source_id,
        m.pid,
        m.device_id,
        m.start_ns,
        m.in_process,
        m.in_kernel,
        m.kernel_name_id,
        m.nth,
        dense_rank() OVER (PARTITION BY m.kernel_name_id, m.nth ORDER BY m.pass_from) AS pass,
        row_number() OVER (PARTITION BY m.kernel_name_id, m.nth, m.pass_from ORDER BY m.in_process) AS place,
        lead(m.in_process) OVER (PARTITION BY m.kernel_name_id, m.nth, m.pass_from ORDER BY m.in_process) IS NULL AS is_last
    FROM measured_launch m
    WHERE NOT m.is_barred AND (early OR m.range_id IS NOT NULL OR m.place > m.launches // 4)
    QUALIFY pass <= 2 AND (place <= 2000 OR is_last)
), cut AS ( -- how many launches ncu may skip; none of a CUDA graph with conditional nodes, of which it is not known how it counts them
    SELECT DISTINCT
        p.source_id,
        p.pid,
        CASE WHEN from_start THEN 0 ELSE least(p.in_process, coalesce(g.in_process, p.in_process)) - 1 END AS skipped
    FROM place p
    LEFT JOIN (
        SELECT
            k.source_id,
            k.pid,
            min(k.in_process) AS in_process
        FROM counted k
        WHERE k.is_barred
        GROUP BY k.source_id, k.pid
    ) g
        ON g.source_id = p.source_id AND g.pid IS NOT DISTINCT FROM p.pid
    WHERE p.pass = 1 AND (p.place = 1 OR p.is_last)
), before AS ( -- how many launches of a kernel are among them
    SELECT
        c.source_id,
        c.pid,
        c.skipped,
        l.kernel_name_id,
        count(l.in_kernel) FILTER (l.in_process <= c.skipped) AS in_kernel
    FROM cut c JOIN launch l ON l.source_id = c.source_id AND l.pid IS NOT DISTINCT FROM c.pid
    GROUP BY c.source_id, c.pid, c.skipped, l.kernel_name_id
), near AS ( -- the first launches of each combination after a cut, by the numbers that they then have
    SELECT
        p.source_id,
        p.pid,
        b.skipped,
        p.device_id,
        p.start_ns,
        p.in_process,
        p.kernel_name_id,
        p.nth,
        p.in_kernel - b.in_kernel AS invocation,
        row_number() OVER one AS place
    FROM place p
    JOIN before b
        ON b.source_id = p.source_id
        AND b.pid IS NOT DISTINCT FROM p.pid
        AND b.kernel_name_id = p.kernel_name_id
        AND p.in_process > b.skipped
    WINDOW one AS (PARTITION BY p.source_id, p.pid, b.skipped, p.kernel_name_id, p.nth ORDER BY p.in_process)
    QUALIFY place <= CASE WHEN early THEN 20 WHEN from_start THEN 2000 ELSE 100 END
), after AS ( -- launches after a cut, by the numbers that they then have
    SELECT
        l.source_id,
        l.pid,
        b.skipped,
        l.kernel_name_id,
        l.in_process,
        l.in_kernel - b.in_kernel AS invocation
    FROM launch l
    JOIN before b
        ON b.source_id = l.source_id
        AND b.pid IS NOT DISTINCT FROM l.pid
        AND b.kernel_name_id = l.kernel_name_id
        AND l.in_process > b.skipped
), offer AS ( -- near, and all that ncu matches at its number
    SELECT
        n.source_id,
        n.pid,
        n.skipped,
        n.device_id,
        n.start_ns,
        n.in_process,
        n.kernel_name_id,
        n.nth,
        n.invocation,
        n.place,
        r.places
    FROM near n
    JOIN (
        SELECT a.source_id, a.pid, a.skipped, a.invocation, list(a.in_process) AS places
        FROM after a
        GROUP BY a.source_id, a.pid, a.skipped, a.invocation
    ) r
        ON r.source_id = n.source_id
        AND r.pid IS NOT DISTINCT FROM n.pid
        AND r.skipped = n.skipped
        AND r.invocation = n.invocation
), bound AS ( -- cuts after which each combination has launches: ncu must go to the last of the first of these
    SELECT
        f.source_id,
        f.pid,
        f.skipped,
        max(f.in_process) AS last
    FROM (
        SELECT n.source_id, n.pid, n.skipped, n.kernel_name_id, n.nth, min(n.in_process) AS in_process
        FROM offer n
        GROUP BY n.source_id, n.pid, n.skipped, n.kernel_name_id, n.nth
    ) f
    GROUP BY f.source_id, f.pid, f.skipped
    QUALIFY count(*) = max(count(*)) OVER (PARTITION BY f.source_id, f.pid)
), served(source_id, pid, skipped, invocation, combinations, done, places, reached) AS (
    -- one number after the other, each with the combinations that it serves, and how far ncu goes for them
    SELECT
        b.source_id,
        b.pid,
        b.skipped,
        NULL::BIGINT AS invocation,
        []::STRUCT(kernel_name_id BIGINT, nth BIGINT)[] AS combinations,
        []::STRUCT(kernel_name_id BIGINT, nth BIGINT)[] AS done,
        []::BIGINT[] AS places,
        b.last AS reached
    FROM bound b
    UNION ALL
    SELECT
        s.source_id,
        s.pid,
        s.skipped,
        n.invocation,
        list({'kernel_name_id': n.kernel_name_id, 'nth': n.nth}) AS combinations,
        list_concat(s.done, list({'kernel_name_id': n.kernel_name_id, 'nth': n.nth})) AS done,
        list_concat(s.places, n.places) AS places,
        greatest(s.reached, max(n.in_process)) AS reached
    FROM served s
    JOIN offer n
        ON n.source_id = s.source_id
        AND n.pid IS NOT DISTINCT FROM s.pid
        AND n.skipped = s.skipped
        AND NOT list_contains(s.done, {'kernel_name_id': n.kernel_name_id, 'nth': n.nth})
    GROUP BY s.source_id, s.pid, s.skipped, n.invocation, s.done, s.places, s.reached, n.places
    QUALIFY row_number() OVER (
            PARTITION BY s.source_id, s.pid, s.skipped
            ORDER BY len([p FOR p IN n.places IF p <= greatest(s.reached, max(n.in_process))])
                        + len([p FOR p IN s.places IF p > s.reached AND p <= max(n.in_process)])
                        + greatest(max(n.in_process) - s.reached, 0) / CASE WHEN early THEN 15 ELSE 1200 END
                        - count(*), count(*) DESC, sum(n.place), n.invocation
        )
            = 1
), cost AS ( -- the cut that costs least
    SELECT
        s.source_id,
        s.pid,
        s.skipped
    FROM served s
    QUALIFY row_number() OVER (
            PARTITION BY s.source_id, s.pid
            ORDER BY len(s.done) DESC, len([p FOR p IN s.places IF p <= s.reached])
                    + s.reached / CASE WHEN early THEN 15 ELSE 1200 END, s.skipped
        )
            = 1
), chosen AS (
    SELECT n.source_id, n.pid, n.skipped, n.invocation, n.start_ns, n.device_id, n.kernel_name_id, n.nth, n.in_process
    FROM (
        SELECT s.source_id, s.pid, s.skipped, s.invocation, unnest(s.combinations) AS one
        FROM served s
        SEMI JOIN cost c ON c.source_id = s.source_id AND c.pid IS NOT DISTINCT FROM s.pid AND c.skipped = s.skipped
    ) c
    JOIN offer n
        ON n.source_id = c.source_id
        AND n.pid IS NOT DISTINCT FROM c.pid
        AND n.skipped = c.skipped
        AND n.invocation = c.invocation
        AND n.kernel_name_id = c.one.kernel_name_id
        AND n.nth = c.one.nth
    UNION ALL BY NAME
    SELECT
        m.source_id,
        m.pid,
        m.kernel_name_id,
        m.nth,
        min(m.in_process) AS in_process,
        arg_min(m.start_ns, m.in_process) AS start_ns,
        arg_min(m.device_id, m.in_process) AS device_id
    FROM measured_launch m
    GROUP BY m.source_id, m.pid, m.kernel_name_id, m.nth
    HAVING bool_and(m.is_barred)
), matched AS (
    SELECT
        a.source_id,
        a.pid,
        a.in_process,
        row_number() OVER (PARTITION BY a.source_id, a.pid ORDER BY a.in_process) AS match_nth
    FROM after a
    SEMI JOIN chosen k ON k.kernel_name_id = a.kernel_name_id AND k.invocation IS NOT NULL
    SEMI JOIN chosen c
        ON c.source_id = a.source_id
        AND c.pid IS NOT DISTINCT FROM a.pid
        AND c.skipped = a.skipped
        AND c.invocation = a.invocation
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
    c.skipped AS skip_count,
    m.match_nth,
    c.in_process - 1 AS before_count,
    c.start_ns,
    CASE
        WHEN c.start_ns + recorded.from_ns BETWEEN 0 AND recorded.duration_ns THEN c.start_ns + recorded.from_ns
    END AS recording_ns
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
LEFT JOIN matched m ON m.source_id = c.source_id AND m.pid IS NOT DISTINCT FROM c.pid AND m.in_process = c.in_process
LEFT JOIN (
    SELECT
        s.captured_source_id,
        min(1000 * (epoch_us(x.started_at) - epoch_us(p.started_at))) AS from_ns,
        max(p.duration_ns) AS duration_ns
    FROM capture_source s
    JOIN capture_pass p ON p.run_id = s.run_id AND p.pass_id = s.pass_id
    JOIN source x ON x.run_id = s.run_id AND x.source_id = s.captured_source_id
    WHERE s.run_id = run
    GROUP BY s.captured_source_id
) recorded ON recorded.captured_source_id = c.source_id
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
