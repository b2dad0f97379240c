-- ncu-plan v1: Which launches Nsight Compute should profile: of the kernels that take the most time, by the shapes and stages in which they take it.
-- grain: one launch to profile
-- key: kernel, invocation
-- notes: plan
-- params:
--   run VARCHAR: the run
--   top BIGINT = 10: kernels at most; 0 for all
--   per_kernel BIGINT = 2: launches of each kernel at most; 0 for all
--   stage VARCHAR = NULL: only measured passes of this stage; by default those of every stage
-- columns:
--   rank: place of the kernel by its time in measured passes, over repeats and processes; a place is missing where a kernel was left out
--   kernel: name
--   symbol: its mangled name, by which ncu is asked for it
--   invocation: 1, 2, ... of this launch among all launches of the symbol in its process, in the order of the launching calls: ncu counts from the start of the process
--   stage: stage of the launch; (none) where the run has no measured pass, and all kernels count
--   grid: blocks, x * y * z; NULL when the capture does not say
--   block: threads of a block, x * y * z; NULL likewise
--   calls: executions of this kernel in this stage with this grid and block, in measured passes
--   total_ns: sum of their times
--   source_id: the source that the launch was counted in: the first of several repeats
--   pid: its process
--   start_ns: start of the launch on the device, from the start of the source

-- Of a kernel those combinations of stage, grid and block with the most time, and of each a launch about the middle of the measured ones.
-- ncu is asked for kernels and for numbers apart, and profiles each kernel at each number: of the launches nearest the middle, that one is
-- taken whose number most combinations have, so that few numbers serve all of them.
-- Kernels are added up before anything is looked up by them: there are millions of them, of few shapes.
WITH context AS (
    SELECT c.range_context_id, min(p.stage) AS stage FROM range_context c JOIN _stage_pass(run, source := 'nsys') p ON p.range_id = c.range_id
    WHERE c.run_id = run AND NOT p.is_warmup GROUP BY c.range_context_id
), shape AS (
    SELECT k.source_id, k.pid, k.kernel_name_id, x.stage, k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z, count(*) AS calls, sum(k.duration_ns)::BIGINT AS total_ns
    FROM kernel k LEFT JOIN context x ON x.range_context_id = k.range_context_id
    WHERE k.run_id = run AND k.source_id IN (SELECT s.source_id FROM source s WHERE s.run_id = run AND s.kind = 'nsys')
    GROUP BY ALL
), measured AS (
    SELECT s.source_id, s.pid, s.kernel_name_id, coalesce(s.stage, '(none)') AS stage, s.grid_x, s.grid_y, s.grid_z, s.block_x, s.block_y, s.block_z, s.calls, s.total_ns
    FROM shape s WHERE (s.stage IS NOT NULL OR NOT EXISTS (SELECT 1 FROM context)) AND (stage IS NULL OR coalesce(s.stage, '(none)') = stage)
), ranked AS (
    SELECT t.kernel_name_id, n.name, row_number() OVER (ORDER BY t.total_ns DESC, n.name) AS rank
    FROM (SELECT m.kernel_name_id, sum(m.total_ns) AS total_ns FROM measured m GROUP BY m.kernel_name_id) t JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = t.kernel_name_id
), wanted AS (
    SELECT r.kernel_name_id, r.name, r.rank, s.symbol, row_number() OVER (ORDER BY r.rank) AS place
    FROM ranked r JOIN (SELECT y.kernel_name_id, min(y.symbol) AS symbol FROM kernel_symbol y WHERE y.run_id = run GROUP BY y.kernel_name_id HAVING count(*) = 1) s ON s.kernel_name_id = r.kernel_name_id
), combination AS (
    SELECT m.kernel_name_id, m.stage, m.grid_x, m.grid_y, m.grid_z, m.block_x, m.block_y, m.block_z, sum(m.calls)::BIGINT AS calls, sum(m.total_ns)::BIGINT AS total_ns, min(struct_pack(source_id := m.source_id, pid := m.pid)) AS process,
        row_number() OVER (PARTITION BY m.kernel_name_id ORDER BY sum(m.total_ns) DESC, m.stage, m.grid_x, m.grid_y, m.grid_z, m.block_x, m.block_y, m.block_z) AS nth
    FROM measured m WHERE m.kernel_name_id IN (SELECT w.kernel_name_id FROM wanted w WHERE top = 0 OR w.place <= top)
    GROUP BY m.kernel_name_id, m.stage, m.grid_x, m.grid_y, m.grid_z, m.block_x, m.block_y, m.block_z
), picked AS (
    SELECT c.kernel_name_id, c.stage, c.grid_x, c.grid_y, c.grid_z, c.block_x, c.block_y, c.block_z, c.calls, c.total_ns, c.process.source_id, c.process.pid, c.nth FROM combination c WHERE per_kernel = 0 OR c.nth <= per_kernel
), launch AS ( -- of the kernels and processes that are asked for, warm-up and all that came before included
    SELECT k.source_id, k.pid, k.kernel_name_id, k.range_context_id, k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z, k.start_ns,
        row_number() OVER (PARTITION BY k.source_id, k.pid, k.kernel_name_id ORDER BY coalesce(k.launch_start_ns, k.start_ns), k.start_ns, k.correlation_id, k.device_id, k.stream_id, k.graph_node_id) AS invocation
    FROM kernel k SEMI JOIN picked p ON p.kernel_name_id = k.kernel_name_id AND p.source_id = k.source_id AND p.pid IS NOT DISTINCT FROM k.pid
    WHERE k.run_id = run
), nth AS (
    SELECT l.invocation, l.start_ns, p.kernel_name_id, p.nth, p.stage, p.grid_x, p.grid_y, p.grid_z, p.block_x, p.block_y, p.block_z, p.calls, p.total_ns, p.source_id, p.pid,
        row_number() OVER (PARTITION BY p.kernel_name_id, p.nth ORDER BY l.invocation) AS place, count(*) OVER (PARTITION BY p.kernel_name_id, p.nth) AS launches
    FROM launch l LEFT JOIN context x ON x.range_context_id = l.range_context_id
    JOIN picked p ON p.kernel_name_id = l.kernel_name_id AND p.source_id = l.source_id AND p.pid IS NOT DISTINCT FROM l.pid AND p.stage = coalesce(x.stage, '(none)')
        AND p.grid_x IS NOT DISTINCT FROM l.grid_x AND p.grid_y IS NOT DISTINCT FROM l.grid_y AND p.grid_z IS NOT DISTINCT FROM l.grid_z
        AND p.block_x IS NOT DISTINCT FROM l.block_x AND p.block_y IS NOT DISTINCT FROM l.block_y AND p.block_z IS NOT DISTINCT FROM l.block_z
), near AS (
    SELECT n.invocation, n.start_ns, n.kernel_name_id, n.nth, n.stage, n.grid_x, n.grid_y, n.grid_z, n.block_x, n.block_y, n.block_z, n.calls, n.total_ns, n.source_id, n.pid,
        abs(n.place - (n.launches + 1) // 2) AS away
    FROM nth n WHERE away <= least(500, n.launches // 4)
), shared AS (
    SELECT n.invocation, count(*) AS combinations FROM near n GROUP BY n.invocation
), chosen AS (
    SELECT n.invocation, n.start_ns, n.kernel_name_id, n.nth, n.stage, n.grid_x, n.grid_y, n.grid_z, n.block_x, n.block_y, n.block_z, n.calls, n.total_ns, n.source_id, n.pid,
        row_number() OVER (PARTITION BY n.kernel_name_id, n.nth ORDER BY h.combinations DESC, n.away, n.invocation) AS choice
    FROM near n JOIN shared h ON h.invocation = n.invocation
)
SELECT w.rank, w.name AS kernel, w.symbol, n.invocation, n.stage, _dims(n.grid_x, n.grid_y, n.grid_z) AS grid, _dims(n.block_x, n.block_y, n.block_z) AS block,
    n.calls, n.total_ns, n.source_id, n.pid, n.start_ns
FROM chosen n JOIN wanted w ON w.kernel_name_id = n.kernel_name_id
WHERE n.choice = 1
ORDER BY w.rank, n.nth
