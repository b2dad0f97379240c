-- _finding-work: Kernels of the passes that findings are about, added up by name and shape.
-- grain: one stage, GPU, kernel name, grid, block, registers, shared memory, and whether graphs launched it
-- key: stage, device, kernel_name_id, grid, block, register_count, shared_bytes, is_graph
-- params:
--   run VARCHAR: the run
--   span VARCHAR = NULL: name of a relation that holds _finding-span of the run already, in its place
--   place VARCHAR = NULL: name of a relation that holds _finding-place of the run already, in its place
--   source VARCHAR = NULL: only this kind of capture: nsys or torch; by default nsys where the run has both
-- columns:
--   stage: the stage; NULL of a run without measured passes
--   device: GPU
--   kernel_name_id: name
--   grid: blocks, x * y * z; NULL when the capture does not say
--   block: threads of a block, x * y * z; NULL likewise
--   block_count: blocks
--   thread_count: threads of a block
--   register_count: registers of a thread
--   shared_bytes: shared memory of a block
--   is_graph: whether CUDA graphs launched it
--   calls: executions
--   total_ns: sum of their times
--   device_ns: total_ns, or less where kernels ran side by side: what they took of the time in which kernels ran

WITH place AS (
    SELECT p.range_context_id, p.stage FROM query(_given(place, '_finding_place', run, source)) p
), k AS (
    SELECT k.range_context_id, k.device_id, k.kernel_name_id, k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z, k.register_count, k.static_shared_bytes + k.dynamic_shared_bytes AS shared_bytes,
        k.graph_node_id IS NOT NULL AS is_graph, k.duration_ns
    FROM kernel k
    WHERE k.run_id = run AND k.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
), g AS (
    SELECT p.stage, k.device_id, k.kernel_name_id, k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z, k.register_count, k.shared_bytes, k.is_graph, count(*) AS calls, sum(k.duration_ns)::BIGINT AS total_ns
    FROM k LEFT JOIN place p ON p.range_context_id = k.range_context_id
    WHERE p.stage IS NOT NULL OR NOT EXISTS (SELECT 1 FROM place)
    GROUP BY ALL
)
SELECT g.stage, g.device_id AS device, g.kernel_name_id, _dims(g.grid_x, g.grid_y, g.grid_z) AS grid, _dims(g.block_x, g.block_y, g.block_z) AS block, g.grid_x::BIGINT * g.grid_y * g.grid_z AS block_count,
    g.block_x::BIGINT * g.block_y * g.block_z AS thread_count, g.register_count, g.shared_bytes, g.is_graph, g.calls, g.total_ns,
    g.total_ns * least(coalesce(s.kernel_ns / nullif(a.total_ns, 0), 1), 1) AS device_ns
FROM g JOIN (SELECT x.stage, x.device_id, sum(x.total_ns) AS total_ns FROM g x GROUP BY x.stage, x.device_id) a ON a.stage IS NOT DISTINCT FROM g.stage AND a.device_id = g.device_id
LEFT JOIN query(_given(span, '_finding_span', run, source)) s ON s.stage IS NOT DISTINCT FROM g.stage AND s.device = g.device_id
