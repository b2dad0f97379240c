-- Sums that a tool reported in place of a timeline: rows of the reports of nsys stats. Columns that a report lacks, or rounds to nothing, are NULL.
CREATE TABLE reported_sum (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    report VARCHAR NOT NULL, -- what the row adds up: kernel, kernel_grid, memory_time, memory_size, api_call, osrt_call, range (CPU time), range_gpu (GPU spans) or range_kernel (kernels by range)
    kernel_name_id BIGINT, -- kernel; NULL in other reports
    api_name_id BIGINT, -- function of api_call and osrt_call
    name VARCHAR, -- memory operation or range as recorded; NULL for kernels outside every range
    normalised_name VARCHAR, -- range with ids and counters as #
    domain VARCHAR, -- NVTX domain of the range; empty for the default one
    style VARCHAR, -- push_pop or start_end; NULL when the report does not say
    pid INTEGER, -- process of range_kernel
    tid INTEGER, -- thread of range_kernel
    grid_x INTEGER, -- grid of kernel_grid in x, in blocks
    grid_y INTEGER, -- grid size in y, in blocks
    grid_z INTEGER, -- grid size in z, in blocks
    block_x INTEGER, -- block size in x, in threads
    block_y INTEGER, -- block size in y, in threads
    block_z INTEGER, -- block size in z, in threads
    item_count BIGINT NOT NULL, -- executions, calls, or instances of the range; of range_gpu those with GPU work
    total_ns BIGINT, -- sum of the durations; NULL, like the next five columns, for memory_size
    min_ns BIGINT, -- shortest
    max_ns BIGINT, -- longest
    mean_ns DOUBLE, -- mean as reported
    median_ns DOUBLE, -- median as reported
    std_ns DOUBLE, -- sample standard deviation as reported; NULL for a single one
    step_ns DOUBLE, -- the resolution of the times: 1 where it rounds none
    total_bytes BIGINT, -- sum of the sizes of memory_size
    min_bytes BIGINT, -- smallest
    max_bytes BIGINT, -- largest
    mean_bytes DOUBLE, -- mean as reported
    median_bytes DOUBLE, -- median as reported
    std_bytes DOUBLE, -- sample standard deviation as reported
    step_bytes DOUBLE -- the resolution of the sizes
);
