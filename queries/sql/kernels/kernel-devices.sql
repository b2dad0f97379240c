-- kernel-devices v2: Time per GPU of the kernels that take the most time.
-- grain: one kernel name on one GPU
-- key: kernel, device
-- notes: graph timelines left-kernels launch
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: maximum kernels, by their time on all GPUs; 0 for all
--   warmup BOOLEAN = false: count warm-up passes too, and what is outside stages
--   {source}
-- columns:
--   rank: rank of the kernel by its time on all GPUs, as in top-kernels
--   kernel: kernel name
--   device: GPU number on the machine
--   calls: executions on this GPU
--   total_ns: sum of their times
--   share_ratio: total_ns as a share of the kernel's time on all GPUs; NULL when that is 0

WITH d AS (
    SELECT
        k.kernel_name_id,
        k.device_id AS device,
        sum(k.launch_count)::BIGINT AS calls,
        sum(k.launch_count * k.duration_ns)::BIGINT AS total_ns
    FROM _ranked_kernel(run, warmup := warmup, source := source) k
    WHERE NOT k.is_left
    GROUP BY k.kernel_name_id, k.device_id
), whole AS (
    SELECT
        d.kernel_name_id,
        n.name AS kernel,
        sum(d.total_ns)::BIGINT AS total_ns,
        row_number() OVER (ORDER BY sum(d.total_ns) DESC, n.name) AS rank
    FROM d JOIN kernel_name n ON n.run_id = run AND n.kernel_name_id = d.kernel_name_id
    GROUP BY d.kernel_name_id, n.name
)
SELECT
    w.rank,
    w.kernel,
    d.device,
    d.calls,
    d.total_ns,
    d.total_ns / nullif(w.total_ns, 0) AS share_ratio
FROM whole w JOIN d ON d.kernel_name_id = w.kernel_name_id
WHERE top = 0 OR w.rank <= top
ORDER BY w.rank, d.device
