-- kernel-grids v3: Kernels by name, grid and block, as nsys' cuda_gpu_kern_gb_sum.
-- grain: one kernel name, grid and block
-- key: kernel, grid, block
-- notes: graph timelines left-kernels launch
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: maximum rows; 0 for all
--   stage VARCHAR = NULL: only kernels launched in this stage; (none) for kernels outside every stage
--   device BIGINT = NULL: only this GPU
--   warmup BOOLEAN = false: count warm-up passes too, and what is outside stages
--   {source}
-- columns:
--   rank: rank by total time
--   kernel: demangled name
--   grid: grid size in blocks, x * y * z; NULL when the capture has none
--   block: block size in threads, x * y * z; NULL when the capture has none
--   calls: executions
--   total_ns: sum of the durations
--   mean_ns: mean duration
--   median_ns: median duration
--   min_ns: shortest duration
--   max_ns: longest duration
--   std_ns: sample standard deviation (n-1); NULL for a single call
--   share_ratio: total_ns as a share of all rows, before top applies
--   register_count: registers per thread, the most in any call
--   shared_bytes: static and dynamic shared memory per block, the most in any call

WITH h AS (
    SELECT
        k.kernel_name_id,
        k.grid_x,
        k.grid_y,
        k.grid_z,
        k.block_x,
        k.block_y,
        k.block_z,
        k.duration_ns,
        sum(k.launch_count)::BIGINT AS calls,
        max(k.register_count) AS register_count,
        max(k.shared_bytes) AS shared_bytes
    FROM _ranked_kernel(run, stage := stage, device := device, warmup := warmup, source := source) k
    WHERE NOT k.is_left
    GROUP BY k.kernel_name_id, k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z, k.duration_ns
), d AS (
    SELECT
        h.kernel_name_id,
        h.grid_x,
        h.grid_y,
        h.grid_z,
        h.block_x,
        h.block_y,
        h.block_z,
        h.duration_ns,
        h.calls,
        h.register_count,
        h.shared_bytes,
        sum(h.calls) OVER (w ROWS UNBOUNDED PRECEDING) AS upto,
        sum(h.calls) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS n
    FROM h
    WINDOW w AS (
            PARTITION BY h.kernel_name_id, h.grid_x, h.grid_y, h.grid_z, h.block_x, h.block_y, h.block_z
            ORDER BY h.duration_ns
        )
), t AS (
    SELECT
        d.kernel_name_id,
        d.grid_x,
        d.grid_y,
        d.grid_z,
        d.block_x,
        d.block_y,
        d.block_z,
        sum(d.calls)::BIGINT AS calls,
        sum(d.calls * d.duration_ns)::BIGINT AS total_ns,
        _counted_median(d.duration_ns, d.upto, d.n) AS median_ns,
        _counted_std(d.duration_ns, d.calls) AS std_ns,
        min(d.duration_ns) AS min_ns,
        max(d.duration_ns) AS max_ns,
        max(d.register_count) AS register_count,
        max(d.shared_bytes) AS shared_bytes
    FROM d
    GROUP BY d.kernel_name_id, d.grid_x, d.grid_y, d.grid_z, d.block_x, d.block_y, d.block_z
    UNION ALL -- reported sums know neither stage nor GPU
    SELECT
        r.kernel_name_id,
        r.grid_x,
        r.grid_y,
        r.grid_z,
        r.block_x,
        r.block_y,
        r.block_z,
        sum(r.item_count)::BIGINT,
        sum(r.total_ns)::BIGINT,
        _only(r.median_ns),
        _only(r.std_ns),
        min(r.min_ns),
        max(r.max_ns),
        NULL,
        NULL
    FROM reported_sum r
    WHERE r.run_id = run
        AND r.report = 'kernel_grid'
        AND stage IS NULL
        AND device IS NULL
        AND r.source_id IN (SELECT t.source_id FROM _timeline(run, source := source) t)
    GROUP BY r.kernel_name_id, r.grid_x, r.grid_y, r.grid_z, r.block_x, r.block_y, r.block_z
), q AS (
    SELECT
        n.name AS kernel,
        _dims(t.grid_x, t.grid_y, t.grid_z) AS grid,
        _dims(t.block_x, t.block_y, t.block_z) AS block,
        t.calls,
        t.total_ns,
        t.total_ns / t.calls AS mean_ns,
        t.median_ns,
        t.min_ns,
        t.max_ns,
        t.std_ns,
        t.total_ns / nullif((SELECT sum(x.total_ns) FROM t x), 0) AS share_ratio,
        t.register_count,
        t.shared_bytes,
        row_number() OVER (
            ORDER BY t.total_ns DESC, n.name, t.grid_x, t.grid_y, t.grid_z, t.block_x, t.block_y, t.block_z
        ) AS rank
    FROM t JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = t.kernel_name_id
)
SELECT
    q.rank,
    q.kernel,
    q.grid,
    q.block,
    q.calls,
    q.total_ns,
    q.mean_ns,
    q.median_ns,
    q.min_ns,
    q.max_ns,
    q.std_ns,
    q.share_ratio,
    q.register_count,
    q.shared_bytes
FROM q
WHERE top = 0 OR q.rank <= top
ORDER BY q.rank
