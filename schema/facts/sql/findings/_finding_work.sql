-- _finding_work: Kernels of the passes that findings are about, added up by name and shape.
-- grain: one stage, GPU, kernel name, grid, block, registers, shared memory, and whether graphs launched it, of one kind of timeline
-- key: kind, stage, device_id, kernel_name_id, grid, block, register_count, shared_bytes, is_graph
-- needs: _finding_part kernel
-- columns:
--   kind VARCHAR: {timelines}
--   stage VARCHAR: the stage; NULL: all device work of a timeline without measured passes
--   device_id INTEGER: GPU
--   kernel_name_id BIGINT: kernel name
--   role VARCHAR: what kernels of the family do, by kernel_rule
--   grid VARCHAR: grid size in blocks, x * y * z; NULL when the capture has none
--   block VARCHAR: block size in threads, x * y * z; NULL when the capture has none
--   block_count BIGINT: blocks
--   thread_count BIGINT: threads of a block
--   register_count INTEGER: registers per thread
--   shared_bytes BIGINT: shared memory per block
--   is_graph BOOLEAN: whether CUDA graphs launched it
--   launch_count BIGINT: executions
--   sum_ns BIGINT: sum of their durations
--   own_ns DOUBLE: sum_ns, or less where kernels ran side by side: what they took of the time in which kernels ran
--   pass_launch_count DOUBLE: executions in the median pass; of all device work all, like the next two
--   pass_ns DOUBLE: sum of their durations
--   pass_own_ns DOUBLE: pass_ns, or less, as own_ns

WITH middle AS ( -- the median pass; of an even number the two in the middle, each by half
    SELECT
        p.source_id,
        p.range_id,
        p.device_id,
        CASE WHEN p.stage IS NULL THEN 1 ELSE 1 / count(*) OVER (PARTITION BY p.kind, p.stage, p.device_id) END AS part
    FROM (
        SELECT
            p.kind,
            p.stage,
            p.source_id,
            p.range_id,
            p.device_id,
            row_number() OVER (of ORDER BY p.end_ns - p.start_ns, p.range_id) AS nth,
            count(*) OVER of AS pass_count
        FROM _finding_part p
        WINDOW of AS (PARTITION BY p.kind, p.stage, p.device_id)
    ) p
    WHERE p.stage IS NULL OR p.nth BETWEEN (p.pass_count + 1) // 2 AND p.pass_count // 2 + 1
), g AS (
    SELECT
        t.kind,
        p.stage,
        k.device_id,
        k.kernel_name_id,
        k.grid_x,
        k.grid_y,
        k.grid_z,
        k.block_x,
        k.block_y,
        k.block_z,
        k.register_count,
        k.shared_bytes,
        k.is_graph,
        sum(k.launch_count)::BIGINT AS launch_count,
        sum(k.sum_ns)::BIGINT AS sum_ns,
        sum(k.launch_count * coalesce(m.part, 0)) AS pass_launch_count,
        sum(k.sum_ns * coalesce(m.part, 0)) AS pass_ns
    FROM _kernel_sum k
    JOIN _finding_timeline t ON t.source_id = k.source_id
    LEFT JOIN _finding_place p ON p.range_context_id = k.range_context_id
    LEFT JOIN middle m
        ON m.source_id = k.source_id AND m.device_id = k.device_id AND m.range_id IS NOT DISTINCT FROM p.range_id
    WHERE p.stage IS NOT NULL OR NOT t.is_staged
    GROUP BY ALL
)
SELECT
    g.kind,
    g.stage,
    g.device_id,
    g.kernel_name_id,
    c.role,
    g.grid_x || ' x ' || g.grid_y || ' x ' || g.grid_z AS grid,
    g.block_x || ' x ' || g.block_y || ' x ' || g.block_z AS block,
    g.grid_x::BIGINT * g.grid_y * g.grid_z AS block_count,
    g.block_x::BIGINT * g.block_y * g.block_z AS thread_count,
    g.register_count,
    g.shared_bytes,
    g.is_graph,
    g.launch_count,
    g.sum_ns,
    g.sum_ns
        * least(
            coalesce(s.kernel_ns / nullif(sum(g.sum_ns) OVER (PARTITION BY g.kind, g.stage, g.device_id), 0), 1),
            1
        ) AS own_ns,
    g.pass_launch_count,
    g.pass_ns,
    g.pass_ns
        * least(
            coalesce(
                CASE WHEN g.stage IS NULL THEN s.kernel_ns ELSE s.pass_kernel_ns END
                    / nullif(sum(g.pass_ns) OVER (PARTITION BY g.kind, g.stage, g.device_id), 0),
                1
            ),
            1
        ) AS pass_own_ns
FROM g
LEFT JOIN finding_span s
    ON s.run_id = $run AND s.kind = g.kind AND s.stage IS NOT DISTINCT FROM g.stage AND s.device_id = g.device_id
LEFT JOIN kernel_class c ON c.run_id = $run AND c.kernel_name_id = g.kernel_name_id
