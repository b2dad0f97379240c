-- Kernel names of a run.
CREATE TABLE kernel_name (
    run_id UUID NOT NULL, -- the run
    kernel_name_id BIGINT NOT NULL, -- first 8 bytes of SHA-256 of name, big-endian, signed
    name VARCHAR NOT NULL, -- demangled name with template arguments
    short_name VARCHAR NOT NULL -- base function name
);

-- Names of API and library functions of a run.
CREATE TABLE api_name (
    run_id UUID NOT NULL, -- the run
    api_name_id INTEGER NOT NULL, -- 1, 2, ... within the run
    name VARCHAR NOT NULL -- function name as recorded, e.g. cudaLaunchKernel
);

-- One kernel execution on a device. Times are from the start of the source. path_id and range_context_id are NULL when
-- the launch was not captured and 0 when it happened outside every range.
CREATE TABLE kernel (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER, -- process that launched it
    tid INTEGER, -- thread that launched it; NULL when the launch was not captured
    device_id INTEGER NOT NULL, -- GPU
    context_id INTEGER NOT NULL, -- CUDA context
    stream_id INTEGER NOT NULL, -- CUDA stream
    start_ns BIGINT NOT NULL, -- start on the device
    duration_ns BIGINT NOT NULL, -- execution time
    kernel_name_id BIGINT NOT NULL, -- name
    grid_x INTEGER NOT NULL, -- blocks in x
    grid_y INTEGER NOT NULL, -- blocks in y
    grid_z INTEGER NOT NULL, -- blocks in z
    block_x INTEGER NOT NULL, -- threads of a block in x
    block_y INTEGER NOT NULL, -- threads of a block in y
    block_z INTEGER NOT NULL, -- threads of a block in z
    register_count INTEGER, -- registers of a thread
    static_shared_bytes INTEGER, -- static shared memory of a block
    dynamic_shared_bytes INTEGER, -- dynamic shared memory of a block
    correlation_id BIGINT, -- ties it to its launch within its process
    graph_node_id BIGINT, -- CUDA graph node; NULL when not launched by a graph
    launch_start_ns BIGINT, -- start of the launching API call
    launch_duration_ns BIGINT, -- time in the launching API call
    launch_name_id INTEGER, -- the launching API call's api_name
    range_context_id INTEGER, -- the set of ranges the launch was made in
    path_id INTEGER -- the path of names of these ranges
);

-- One copy or fill of memory on a device. Launch columns as in kernel.
CREATE TABLE memop (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER, -- process that issued it
    tid INTEGER, -- thread that issued it; NULL when the call was not captured
    device_id INTEGER NOT NULL, -- GPU
    context_id INTEGER NOT NULL, -- CUDA context
    stream_id INTEGER NOT NULL, -- CUDA stream
    start_ns BIGINT NOT NULL, -- start on the device
    duration_ns BIGINT NOT NULL, -- time it took
    operation VARCHAR NOT NULL, -- e.g. memcpy Host-to-Device, memset
    size_bytes BIGINT NOT NULL, -- bytes copied or set
    src_memory VARCHAR, -- kind of the source memory: Pageable, Pinned, Device, ...
    dst_memory VARCHAR, -- kind of the destination memory
    correlation_id BIGINT, -- ties it to its API call within its process
    graph_node_id BIGINT, -- CUDA graph node; NULL when not launched by a graph
    launch_start_ns BIGINT, -- start of the API call
    launch_duration_ns BIGINT, -- time in the API call
    launch_name_id INTEGER, -- the API call's api_name
    range_context_id INTEGER, -- the set of ranges the call was made in
    path_id INTEGER -- the path of names of these ranges
);

-- One replay of a CUDA graph. In graph mode the device times are measured by the profiler and the graph's kernels are
-- not in kernel; in node mode the times are those of the replay's kernels, copies and fills, which have rows of their own.
CREATE TABLE graph_launch (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER, -- process that launched it
    tid INTEGER, -- thread that launched it; NULL when the launch was not captured
    device_id INTEGER NOT NULL, -- GPU
    context_id INTEGER, -- CUDA context
    stream_id INTEGER, -- CUDA stream; NULL in node mode, where nodes may use several
    mode VARCHAR NOT NULL, -- graph or node: how the capture traced graphs
    graph_id BIGINT, -- the executable graph; NULL in node mode
    start_ns BIGINT NOT NULL, -- start on the device
    duration_ns BIGINT NOT NULL, -- first start to last end on the device
    busy_ns BIGINT NOT NULL, -- sum of the nodes' durations in node mode, duration_ns in graph mode
    kernel_count BIGINT, -- kernels of this replay; NULL in graph mode
    memop_count BIGINT, -- copies and fills of this replay; NULL in graph mode
    correlation_id BIGINT, -- ties it to its launch within its process
    launch_start_ns BIGINT, -- start of the launching API call
    launch_duration_ns BIGINT, -- time in the launching API call
    launch_name_id INTEGER, -- the launching API call's api_name
    range_context_id INTEGER, -- the set of ranges the launch was made in
    path_id INTEGER -- the path of names of these ranges
);

-- Nodes of CUDA graphs, by the call that created them.
CREATE TABLE graph_node (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER NOT NULL, -- process
    tid INTEGER NOT NULL, -- thread that created the node
    graph_node_id BIGINT NOT NULL, -- as graph_node_id elsewhere
    original_graph_node_id BIGINT, -- the node it was cloned from; NULL when it is an original
    api_name_id INTEGER NOT NULL, -- the creating call's api_name
    time_ns BIGINT NOT NULL -- when it was created
);

-- One CUDA runtime or driver API call.
CREATE TABLE api_call (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER NOT NULL, -- calling process
    tid INTEGER NOT NULL, -- calling thread
    start_ns BIGINT NOT NULL, -- start of the call
    duration_ns BIGINT NOT NULL, -- time in the call
    api_name_id INTEGER NOT NULL, -- function
    correlation_id BIGINT, -- ties it to device work within its process
    return_value INTEGER, -- the call's result, 0 is success
    range_context_id INTEGER NOT NULL -- the set of ranges it was made in; 0 outside every range
);

-- One call of a library traced by the profiler (cuDNN, cuBLAS).
CREATE TABLE library_call (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    library VARCHAR NOT NULL, -- cuDNN or cuBLAS
    pid INTEGER NOT NULL, -- calling process
    tid INTEGER NOT NULL, -- calling thread
    start_ns BIGINT NOT NULL, -- start of the call
    duration_ns BIGINT NOT NULL, -- time in the call
    api_name_id INTEGER NOT NULL, -- function
    range_context_id INTEGER NOT NULL -- the set of ranges it was made in; 0 outside every range
);

-- One call into the operating system's libraries; only with --with-osrt.
CREATE TABLE osrt_call (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER NOT NULL, -- calling process
    tid INTEGER NOT NULL, -- calling thread
    start_ns BIGINT NOT NULL, -- start of the call
    duration_ns BIGINT NOT NULL, -- time in the call
    api_name_id BIGINT NOT NULL -- function
);

-- One CUDA synchronisation as the driver recorded it.
CREATE TABLE sync (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER, -- process
    tid INTEGER, -- thread that waited; NULL when the call was not captured
    device_id INTEGER NOT NULL, -- GPU
    context_id INTEGER NOT NULL, -- CUDA context
    stream_id INTEGER, -- CUDA stream; NULL when not said
    kind VARCHAR NOT NULL, -- what was waited for, e.g. Stream synchronize
    start_ns BIGINT NOT NULL, -- start of the wait
    duration_ns BIGINT NOT NULL, -- length of the wait
    event_id BIGINT, -- CUDA event waited for; NULL when none
    correlation_id BIGINT, -- ties it to its API call within its process
    range_context_id INTEGER, -- the set of ranges the call was made in
    path_id INTEGER -- the path of names of these ranges
);

-- Time the profiler itself took from the program.
CREATE TABLE profiler_overhead (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER NOT NULL, -- process
    tid INTEGER NOT NULL, -- thread
    start_ns BIGINT NOT NULL, -- start
    duration_ns BIGINT NOT NULL, -- length
    name VARCHAR NOT NULL -- what the profiler did
);

-- Names and units of GPU metrics sampled over time.
CREATE TABLE gpu_metric_name (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    device_id INTEGER, -- GPU; NULL when the export does not say
    type_id BIGINT NOT NULL, -- the sampling source, as in gpu_metric
    metric_id INTEGER NOT NULL, -- the metric, as in gpu_metric
    name VARCHAR NOT NULL, -- the profiler's name of it, e.g. SMs Active [Throughput %]
    unit VARCHAR NOT NULL -- unit of gpu_metric.value: ratio (0-1), hz, bytes_per_s or raw (as the profiler stores it)
);

-- Samples of GPU metrics.
CREATE TABLE gpu_metric (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    type_id BIGINT NOT NULL, -- the sampling source
    metric_id INTEGER NOT NULL, -- the metric
    time_ns BIGINT NOT NULL, -- when, from the start of the source
    value DOUBLE NOT NULL -- in the unit that gpu_metric_name says
);
