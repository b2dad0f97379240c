-- What repeats is stored once: launch shapes of kernels, and short API calls, of which a capture has millions, as sums.

-- One launch shape of a run's kernels: a column is NULL when the capture does not record it.
CREATE TABLE kernel_shape (
    run_id UUID NOT NULL, -- the run
    kernel_shape_id BIGINT NOT NULL, -- the run's base plus 1, 2, ...: no other run has it
    grid_x INTEGER, -- blocks in x
    grid_y INTEGER, -- blocks in y
    grid_z INTEGER, -- blocks in z
    block_x INTEGER, -- threads of a block in x
    block_y INTEGER, -- threads of a block in y
    block_z INTEGER, -- threads of a block in z
    register_count INTEGER, -- registers of a thread
    static_shared_bytes INTEGER, -- static shared memory of a block
    dynamic_shared_bytes INTEGER -- dynamic shared memory of a block
);

-- Short CUDA API calls by the ranges they were made in: those under 5 us that succeeded, unless ingest kept their rows in api_call.
CREATE TABLE api_sum (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER NOT NULL, -- calling process
    tid INTEGER NOT NULL, -- calling thread
    range_context_id BIGINT NOT NULL, -- the set of ranges they were made in; 0 outside every range
    api_name_id BIGINT NOT NULL, -- function
    call_count BIGINT NOT NULL, -- calls
    sum_ns BIGINT NOT NULL -- time in the calls
);

-- The calls of api_sum by their exact duration.
CREATE TABLE api_duration (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    path_id BIGINT NOT NULL, -- path of the ranges they were made in; 0 outside every range
    api_name_id BIGINT NOT NULL, -- function
    duration_ns INTEGER NOT NULL, -- time in the call
    has_result BOOLEAN NOT NULL, -- whether the capture records that the calls succeeded
    call_count BIGINT NOT NULL -- calls
);

INSERT INTO kernel_shape
SELECT q.run_id, ((('0x' || left(md5(q.run_id::VARCHAR), 9))::BIGINT << 27) + row_number() OVER (PARTITION BY q.run_id ORDER BY q.grid_x, q.grid_y, q.grid_z, q.block_x, q.block_y, q.block_z,
    q.register_count, q.static_shared_bytes, q.dynamic_shared_bytes))::BIGINT, q.grid_x, q.grid_y, q.grid_z, q.block_x, q.block_y, q.block_z, q.register_count, q.static_shared_bytes, q.dynamic_shared_bytes
FROM (
    SELECT DISTINCT k.run_id, k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z, k.register_count, k.static_shared_bytes, k.dynamic_shared_bytes FROM kernel k
) q;

ALTER TABLE kernel RENAME TO kernel_before;

-- One kernel execution on a device. Times are from the start of the source. path_id and range_context_id are NULL when the launch was not captured
-- and 0 when it happened outside every range.
CREATE TABLE kernel (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER, -- process that launched it
    tid INTEGER, -- thread that launched it; NULL when the launch was not captured
    device_id INTEGER NOT NULL, -- GPU
    context_id INTEGER, -- CUDA context
    stream_id INTEGER NOT NULL, -- CUDA stream
    start_ns BIGINT NOT NULL, -- start on the device
    duration_ns BIGINT NOT NULL, -- execution time
    kernel_name_id BIGINT NOT NULL, -- name
    kernel_shape_id BIGINT, -- launch shape; NULL when the capture has none
    correlation_id BIGINT, -- ties it to its launch within its process
    graph_node_id BIGINT, -- CUDA graph node; NULL when not launched by a graph
    launch_start_ns BIGINT, -- start of the launching API call
    launch_duration_ns BIGINT, -- time in the launching API call
    launch_name_id BIGINT, -- the launching API call's api_name
    range_context_id BIGINT, -- the set of ranges the launch was made in
    path_id BIGINT, -- the path of names of these ranges
    op_id BIGINT -- innermost operator that launched it; 0 outside every operator, NULL when operators were not recorded or the launch was not captured
);

INSERT INTO kernel
SELECT k.run_id, k.source_id, k.pid, k.tid, k.device_id, k.context_id, k.stream_id, k.start_ns, k.duration_ns, k.kernel_name_id, s.kernel_shape_id, k.correlation_id, k.graph_node_id,
    k.launch_start_ns, k.launch_duration_ns, k.launch_name_id, k.range_context_id, k.path_id, k.op_id
FROM kernel_before k
JOIN kernel_shape s ON s.run_id = k.run_id AND s.grid_x IS NOT DISTINCT FROM k.grid_x AND s.grid_y IS NOT DISTINCT FROM k.grid_y AND s.grid_z IS NOT DISTINCT FROM k.grid_z
    AND s.block_x IS NOT DISTINCT FROM k.block_x AND s.block_y IS NOT DISTINCT FROM k.block_y AND s.block_z IS NOT DISTINCT FROM k.block_z AND s.register_count IS NOT DISTINCT FROM k.register_count
    AND s.static_shared_bytes IS NOT DISTINCT FROM k.static_shared_bytes AND s.dynamic_shared_bytes IS NOT DISTINCT FROM k.dynamic_shared_bytes;
DROP TABLE kernel_before;

COMMENT ON TABLE api_call IS 'One CUDA runtime or driver API call that took 5 us or longer or failed; all of them with `prof ingest --with-api-rows`, and in runs of an older prof. The others are in api_sum and api_duration.';
