-- One captured workload: everything ingested together under one name.
CREATE TABLE run (
    run_id UUID NOT NULL, -- UUIDv7, ordered by creation
    name VARCHAR NOT NULL, -- unique human name
    created_at TIMESTAMP NOT NULL, -- UTC time of the ingest
    started_at TIMESTAMP, -- UTC time the earliest capture began; NULL when no source says
    command VARCHAR, -- the profiled command line, secrets masked; NULL when no source says
    host VARCHAR, -- machine the capture was taken on; NULL when no source says
    prof_version VARCHAR NOT NULL -- version of prof that ingested the run
);

-- Free labels of a run; a key occurs once per run.
CREATE TABLE run_tag (
    run_id UUID NOT NULL, -- the run
    key VARCHAR NOT NULL, -- the tag's key
    value VARCHAR NOT NULL -- the tag's value
);

-- One ingested file or export folder of a run.
CREATE TABLE source (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- 1, 2, ... within the run
    kind VARCHAR NOT NULL, -- what captured it: nsys, ncu, torch, ...; workload, model, capture and reported for facts of the run
    form VARCHAR NOT NULL, -- file form: sqlite, parquetdir, ncu-rep, torch-trace, ...
    path VARCHAR NOT NULL, -- path as given
    rank_id INTEGER, -- rank of a multi-process job; NULL when unknown
    tool_version VARCHAR, -- version of the tool that wrote the file
    schema_version VARCHAR, -- version of the file's own schema
    size_bytes BIGINT NOT NULL, -- bytes read from disk
    sha256 VARCHAR NOT NULL, -- SHA-256 of the file's content (of a folder: of its files' names and hashes)
    row_count BIGINT NOT NULL, -- rows stored from this source
    status VARCHAR NOT NULL, -- ok or partial
    reason VARCHAR, -- why the status is not ok
    started_at TIMESTAMP, -- UTC wall clock at time 0 of this source
    duration_ns BIGINT, -- length of the capture
    added_at TIMESTAMP, -- UTC time at which it was stored; NULL when an older prof stored it, with the run or later
    command VARCHAR, -- the profiled command line, secrets masked; NULL when the source does not say, and from an older prof
    host VARCHAR -- machine it was captured on; NULL when the source does not say, and from an older prof
);

-- What became of each table of a source.
CREATE TABLE source_part (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    part VARCHAR NOT NULL, -- table of the export
    read_count BIGINT, -- rows read; NULL when not read
    stored_count BIGINT, -- rows stored; NULL when not read
    reason VARCHAR -- why rows were not stored; NULL when all were
);

-- Facts about the machine, the tool and the capture's settings; never an environment variable.
CREATE TABLE source_fact (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    key VARCHAR NOT NULL, -- name of the fact, dotted: driver.version, cpu.description, capture.cuda_graph_trace
    value VARCHAR NOT NULL -- its value as text
);

-- Messages of the capture itself and warnings of the ingest.
CREATE TABLE diagnostic (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    origin VARCHAR NOT NULL, -- capture: said by the profiler; ingest: said by prof
    severity VARCHAR NOT NULL, -- info, warning or error
    time_ns BIGINT, -- when, from the start of the source; NULL when not said
    pid INTEGER, -- process it concerns; NULL when none
    message VARCHAR NOT NULL -- the text, secrets masked
);

-- GPUs of a source.
CREATE TABLE device (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    device_id INTEGER NOT NULL, -- the machine's GPU number, as device_id elsewhere; of node K of a job 1000 * K more
    name VARCHAR, -- product name, e.g. NVIDIA H200
    uuid VARCHAR, -- the GPU's UUID
    bus_id VARCHAR, -- PCI address
    chip VARCHAR, -- chip name, e.g. GH100
    compute_capability VARCHAR, -- e.g. 9.0
    sm_count BIGINT, -- streaming multiprocessors
    clock_hz BIGINT, -- maximum SM clock
    memory_bytes BIGINT, -- device memory
    memory_bytes_per_s BIGINT, -- peak memory bandwidth as the driver computes it
    l2_bytes BIGINT, -- L2 cache size
    max_warp_per_sm_count BIGINT, -- warps an SM can hold
    shared_per_sm_bytes BIGINT -- shared memory of an SM
);

-- Processes seen by the capture.
CREATE TABLE process (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER NOT NULL, -- process id
    name VARCHAR, -- name of the executable
    rank_id INTEGER -- its rank in the job; NULL when unknown
);

-- Named threads of the processes.
CREATE TABLE thread (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER NOT NULL, -- process id
    tid INTEGER NOT NULL, -- thread id
    name VARCHAR NOT NULL -- thread name
);

-- CUDA streams of the processes.
CREATE TABLE stream (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER NOT NULL, -- process id
    context_id INTEGER NOT NULL, -- CUDA context
    stream_id INTEGER NOT NULL, -- CUDA stream
    priority INTEGER, -- launch priority, lower is served first
    flag VARCHAR -- kind of stream as the profiler names it
);

-- Kernel names of a run.
CREATE TABLE kernel_name (
    run_id UUID NOT NULL, -- the run
    kernel_name_id BIGINT NOT NULL, -- the run's base plus 1, 2, ...: no other run has it
    name VARCHAR NOT NULL, -- demangled name with template arguments
    short_name VARCHAR NOT NULL, -- base function name
    name_hash BIGINT -- the name in every run and warehouse: first 8 bytes of SHA-256 of name, big-endian, signed
);

-- Names of API and library functions of a run.
CREATE TABLE api_name (
    run_id UUID NOT NULL, -- the run
    api_name_id BIGINT NOT NULL, -- the run's base plus 1, 2, ...: no other run has it
    name VARCHAR NOT NULL -- function name as recorded, e.g. cudaLaunchKernel
);

-- One kernel execution on a device. Times are from the start of the source. path_id and range_context_id are NULL when the launch was not
-- captured and 0 when it happened outside every range.
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
    op_id BIGINT, -- innermost operator that launched it; 0 outside every operator, NULL when operators were not recorded or the launch was
        -- not captured
    stack_id BIGINT -- Python functions it was launched in, as in python_stack; 0 outside every one, NULL when stacks were not recorded, the
        -- launch was not captured, or the run was stored before prof kept this
);

-- One copy or fill of memory on a device. Launch columns as in kernel.
CREATE TABLE memop (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER, -- process that issued it
    tid INTEGER, -- thread that issued it; NULL when the call was not captured
    device_id INTEGER NOT NULL, -- GPU
    context_id INTEGER, -- CUDA context
    stream_id INTEGER NOT NULL, -- CUDA stream
    start_ns BIGINT NOT NULL, -- start on the device
    duration_ns BIGINT NOT NULL, -- time it took
    operation VARCHAR NOT NULL, -- e.g. memcpy Host-to-Device, memset
    size_bytes BIGINT, -- bytes copied or set
    src_memory VARCHAR, -- kind of the source memory: Pageable, Pinned, Device, ...
    dst_memory VARCHAR, -- kind of the destination memory
    correlation_id BIGINT, -- ties it to its API call within its process
    graph_node_id BIGINT, -- CUDA graph node; NULL when not launched by a graph
    launch_start_ns BIGINT, -- start of the API call
    launch_duration_ns BIGINT, -- time in the API call
    launch_name_id BIGINT, -- the API call's api_name
    range_context_id BIGINT, -- the set of ranges the call was made in
    path_id BIGINT, -- the path of names of these ranges
    op_id BIGINT, -- innermost operator that launched it; 0 outside every operator, NULL when operators were not recorded or the launch was
        -- not captured
    stack_id BIGINT -- Python functions it was issued in, as in kernel
);

-- One replay of a CUDA graph. In graph mode the device times are measured by the profiler and the graph's kernels are not in kernel; in
-- node mode the times are those of the replay's kernels, copies and fills, which have rows of their own.
CREATE TABLE graph_launch (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER, -- process that launched it
    tid INTEGER, -- thread that launched it; NULL when the launch was not captured
    device_id INTEGER NOT NULL, -- GPU
    context_id INTEGER, -- CUDA context
    stream_id INTEGER, -- CUDA stream; NULL in node mode, where nodes may use several
    mode VARCHAR NOT NULL, -- graph or node: how the capture traced graphs
    graph_id BIGINT, -- the executable graph, of its process; the graph that it was instantiated from where the export has only that; NULL
        -- when the capture has neither
    start_ns BIGINT NOT NULL, -- start on the device
    duration_ns BIGINT NOT NULL, -- first start to last end on the device
    busy_ns BIGINT NOT NULL, -- sum of the nodes' durations in node mode, duration_ns in graph mode
    kernel_count BIGINT, -- kernels of this replay; NULL in graph mode
    memop_count BIGINT, -- copies and fills of this replay; NULL in graph mode
    correlation_id BIGINT, -- ties it to its launch within its process
    launch_start_ns BIGINT, -- start of the launching API call
    launch_duration_ns BIGINT, -- time in the launching API call
    launch_name_id BIGINT, -- the launching API call's api_name
    range_context_id BIGINT, -- the set of ranges the launch was made in
    path_id BIGINT, -- the path of names of these ranges
    stack_id BIGINT, -- Python functions it was launched in, as in kernel
    body_count BIGINT -- kernels of this replay in bodies of conditional nodes; NULL in graph mode, and when not known
);

-- Nodes of CUDA graphs, by the call that created them.
CREATE TABLE graph_node (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER NOT NULL, -- process
    tid INTEGER NOT NULL, -- thread that created the node
    graph_node_id BIGINT NOT NULL, -- as graph_node_id elsewhere
    original_graph_node_id BIGINT, -- the node it was cloned from; NULL when it is an original
    api_name_id BIGINT NOT NULL, -- the creating call's api_name
    time_ns BIGINT NOT NULL -- when it was created
);

-- One CUDA runtime or driver API call that took 5 us or longer, failed, records an event, makes a stream wait for one, or, under Nsight
-- Systems, begins or ends a stream capture; all of them with `prof ingest --with-api-rows`, and in runs of an older prof. The others are in
-- api_sum and api_duration.
CREATE TABLE api_call (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER NOT NULL, -- calling process
    tid INTEGER NOT NULL, -- calling thread
    start_ns BIGINT NOT NULL, -- start of the call
    duration_ns BIGINT NOT NULL, -- time in the call
    api_name_id BIGINT NOT NULL, -- function
    correlation_id BIGINT, -- ties it to device work within its process
    return_value INTEGER, -- the call's result, 0 is success
    range_context_id BIGINT NOT NULL -- the set of ranges it was made in; 0 outside every range
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
    api_name_id BIGINT NOT NULL, -- function
    range_context_id BIGINT NOT NULL -- the set of ranges it was made in; 0 outside every range
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
    context_id INTEGER, -- CUDA context
    stream_id INTEGER, -- CUDA stream; NULL when not said
    kind VARCHAR NOT NULL, -- what was waited for, e.g. Stream synchronize
    start_ns BIGINT NOT NULL, -- start of the wait
    duration_ns BIGINT NOT NULL, -- length of the wait
    event_id BIGINT, -- CUDA event waited for; NULL when none
    correlation_id BIGINT, -- ties it to its API call within its process
    range_context_id BIGINT, -- the set of ranges the call was made in
    path_id BIGINT, -- the path of names of these ranges
    record_device_id INTEGER, -- GPU of the stream that the event was recorded on; NULL as in record_stream_id
    record_stream_id INTEGER, -- stream that the event was recorded on; NULL when no event was waited for, and when the capture does not say
    record_start_ns BIGINT -- start of the call that recorded the event: what was launched on that stream before was waited for; NULL when
        -- not captured
);

-- Time the profiler itself took from the program.
CREATE TABLE profiler_overhead (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER NOT NULL, -- process
    tid INTEGER, -- thread
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

-- One NVTX range of a thread (push/pop) or of a process (start/end).
CREATE TABLE nvtx_range (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    range_id BIGINT NOT NULL, -- the run's base plus 1, 2, ...: no other run has it
    parent_range_id BIGINT, -- innermost range open on its thread when it began, in any domain; NULL when none
    path_id BIGINT NOT NULL, -- path of names from the outermost open range to this one
    pid INTEGER NOT NULL, -- process
    tid INTEGER NOT NULL, -- thread that began it
    end_tid INTEGER, -- thread that ended a start/end range, when it is another one
    style VARCHAR NOT NULL, -- push_pop or start_end; record_function for a range of the PyTorch profiler
    domain VARCHAR NOT NULL, -- NVTX domain; empty for the default one
    name VARCHAR NOT NULL, -- name as recorded, of a longer one the first 65,536 bytes
    category BIGINT, -- NVTX category; NULL when none
    start_ns BIGINT NOT NULL, -- start on the CPU
    duration_ns BIGINT -- time on the CPU; NULL when it never ended in the capture
);

-- NVTX marks: named moments of a thread.
CREATE TABLE nvtx_mark (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER NOT NULL, -- process
    tid INTEGER NOT NULL, -- thread
    domain VARCHAR NOT NULL, -- NVTX domain; empty for the default one
    name VARCHAR NOT NULL, -- name as recorded, of a longer one the first 65,536 bytes
    time_ns BIGINT NOT NULL -- when
);

-- Distinct paths of nested range names, names normalised (ids and counters become #).
CREATE TABLE range_path (
    run_id UUID NOT NULL, -- the run
    path_id BIGINT NOT NULL, -- the run's base plus 1, 2, ...: no other run has it
    depth INTEGER NOT NULL, -- 1 for an outermost range
    domain VARCHAR NOT NULL, -- NVTX domain of the innermost range
    name VARCHAR NOT NULL, -- normalised name of the innermost range
    lineage BIGINT[] NOT NULL, -- path_id of each prefix, outermost first, this path last
    path VARCHAR NOT NULL -- the names joined by ' > ', of a longer text the first 65,536 bytes
);

-- Which ranges enclose a launch: one row per context and enclosing range.
CREATE TABLE range_context (
    run_id UUID NOT NULL, -- the run
    range_context_id BIGINT NOT NULL, -- as in kernel, memop, api_call, ...; context 0 (no range) has no rows
    range_id BIGINT NOT NULL, -- an enclosing range
    path_id BIGINT NOT NULL, -- path of the context: its enclosing ranges' names, outermost first
    is_innermost BOOLEAN NOT NULL -- whether it is the innermost one
);

-- Device work launched inside a range, nested ranges included, per device.
CREATE TABLE range_device (
    run_id UUID NOT NULL, -- the run
    range_id BIGINT NOT NULL, -- the range
    device_id INTEGER NOT NULL, -- GPU
    first_start_ns BIGINT NOT NULL, -- start of its first device work
    last_end_ns BIGINT NOT NULL, -- end of its last device work
    busy_ns BIGINT NOT NULL, -- union of its device work's intervals
    sum_ns BIGINT NOT NULL, -- sum of the durations of its kernels, copies, fills and graph replays
    kernel_sum_ns BIGINT NOT NULL, -- sum of the durations of its kernels
    kernel_count BIGINT NOT NULL, -- kernels
    memop_count BIGINT NOT NULL, -- copies and fills
    graph_count BIGINT NOT NULL -- replays traced as a whole
);

-- Rules that give a kernel its family and role by its name; the first match by priority wins, user rules before built-in ones.
CREATE TABLE kernel_rule (
    origin VARCHAR NOT NULL, -- builtin or user
    priority INTEGER NOT NULL, -- order of trial within the origin, lower first
    pattern VARCHAR NOT NULL, -- RE2 expression looked for in the demangled name
    family VARCHAR NOT NULL, -- family of kernels across shapes and versions
    role VARCHAR NOT NULL, -- what it does: gemm, attention, normalisation, ...
    library VARCHAR NOT NULL, -- where it comes from; empty when unknown
    doc VARCHAR NOT NULL -- what the rule is for
);

-- Rules that give a range name a stage, a note inside a stage, or mark it as warm-up; user rules before built-in ones.
CREATE TABLE stage_rule (
    origin VARCHAR NOT NULL, -- builtin or user
    priority INTEGER NOT NULL, -- order of trial within the origin, lower first
    kind VARCHAR NOT NULL, -- stage, note or warmup
    stage VARCHAR NOT NULL, -- name of the stage or note
    domain VARCHAR NOT NULL, -- NVTX domain it holds for; empty for any
    pattern VARCHAR NOT NULL, -- RE2 expression looked for in the normalised name, case ignored
    doc VARCHAR NOT NULL -- what the rule is for
);

-- What kernel_rule says of each kernel name; made by prof from the rules, again whenever they differ.
CREATE TABLE kernel_class (
    run_id UUID NOT NULL, -- the run
    kernel_name_id BIGINT NOT NULL, -- the kernel name
    family VARCHAR, -- family of kernels; NULL when no rule matches
    role VARCHAR, -- what it does; NULL when no rule matches
    library VARCHAR, -- where it comes from; NULL when unknown
    rule_origin VARCHAR, -- origin of the rule that matched
    rule_priority INTEGER -- priority of the rule that matched
);

-- What stage_rule says of each path of range names; made by prof from the rules, again whenever they differ.
CREATE TABLE path_stage (
    run_id UUID NOT NULL, -- the run
    path_id BIGINT NOT NULL, -- the path
    stage VARCHAR, -- stage of the outermost range of the path that a stage rule matches; NULL when none
    stage_path_id BIGINT, -- path that ends with that range: a range with this path is a pass of the stage
    note VARCHAR, -- note of the innermost range that a note rule matches (vision parts); NULL when none
    note_path_id BIGINT, -- path that ends with that range
    is_warmup BOOLEAN NOT NULL -- whether a warm-up rule matches any range of the path
);

-- One result of Nsight Compute: a kernel launch, a range, a CUDA graph or a command list that was profiled on its own, by replaying it. Its
-- times are replayed ones and never add up with those of the timeline.
CREATE TABLE ncu_launch (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    launch_id BIGINT NOT NULL, -- the run's base plus 1, 2, ...: no other run has it; of a run with one report the number is ncu's ID plus 1
    ncu_id INTEGER NOT NULL, -- ncu's ID of it within its report
    kind VARCHAR NOT NULL, -- kernel, range, graph or cmdlist
    pid INTEGER, -- process
    tid INTEGER, -- thread that launched it; NULL when not said
    device_id INTEGER, -- GPU; NULL when not said
    context_id INTEGER, -- CUDA context; NULL when not said
    stream_id INTEGER, -- CUDA stream; NULL when not said
    kernel_name_id BIGINT, -- name as ncu spells it; NULL unless a kernel
    symbol VARCHAR, -- mangled name; NULL when not said
    grid_x INTEGER, -- blocks in x; NULL unless a kernel
    grid_y INTEGER, -- blocks in y
    grid_z INTEGER, -- blocks in z
    block_x INTEGER, -- threads of a block in x; NULL unless a kernel
    block_y INTEGER, -- threads of a block in y
    block_z INTEGER, -- threads of a block in z
    captured_at TIMESTAMP, -- UTC second it was profiled; NULL when not said
    is_clock_locked BOOLEAN, -- whether ncu held the clocks at base; NULL when not said
    path_id BIGINT -- path of names of its NVTX ranges; 0 outside every range, NULL when ranges were not captured
);

-- NVTX ranges that were open when a result's work was launched. For a range result, its last one is the range itself.
CREATE TABLE ncu_range (
    run_id UUID NOT NULL, -- the run
    launch_id BIGINT NOT NULL, -- the result
    depth INTEGER NOT NULL, -- 1 for the outermost range
    path_id BIGINT NOT NULL, -- path of names that ends with it
    style VARCHAR NOT NULL, -- push_pop or start_end
    domain VARCHAR NOT NULL, -- NVTX domain; empty for the default one
    name VARCHAR NOT NULL -- name as recorded, of a longer one the first 65,536 bytes
);

-- Names of the metrics of a run.
CREATE TABLE ncu_metric_name (
    run_id UUID NOT NULL, -- the run
    metric_id BIGINT NOT NULL, -- the run's base plus 1, 2, ...: no other run has it
    name VARCHAR NOT NULL, -- ncu's name of it, e.g. dram__bytes_read.sum
    unit VARCHAR -- ncu's base unit of its values, e.g. ns, byte, byte/s, hz, % (0-100), inst; empty for a plain number, NULL when unknown
);

-- Value of one metric of one result, in the metric's base unit.
CREATE TABLE ncu_metric (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source it was read from
    launch_id BIGINT NOT NULL, -- the result
    metric_id BIGINT NOT NULL, -- the metric
    value DOUBLE, -- its value; NULL for a text
    text VARCHAR -- its value when that is a text, or a whole number that a DOUBLE does not hold exactly
);

-- Where ncu shows which metric: the sections of its reports.
CREATE TABLE ncu_section (
    run_id UUID NOT NULL, -- the run
    section VARCHAR NOT NULL, -- identifier, e.g. SpeedOfLight
    title VARCHAR NOT NULL, -- display name, e.g. GPU Speed Of Light Throughput
    position INTEGER NOT NULL, -- place of the metric in the section: 1, 2, ...
    metric_id BIGINT NOT NULL, -- the metric
    label VARCHAR NOT NULL, -- what ncu calls the metric there, e.g. Compute (SM) Throughput
    source_id INTEGER -- the source; NULL from an older prof, which stored each section once a run
);

-- What ncu's own rules found about a result.
CREATE TABLE ncu_rule (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    launch_id BIGINT NOT NULL, -- the result
    finding_id INTEGER NOT NULL, -- 1, 2, ... within the result
    rule VARCHAR NOT NULL, -- identifier of the rule, e.g. SOLBottleneck; its title where only that is known
    title VARCHAR NOT NULL, -- display name of the rule, or of the finding where it has one
    section VARCHAR, -- section the rule belongs to; NULL when not said
    severity VARCHAR NOT NULL, -- optimization, warning, error, ok or none
    message VARCHAR NOT NULL, -- the finding
    speedup_scope VARCHAR, -- global (of the kernel's time) or local (of the unit's efficiency); NULL when no speedup is estimated
    speedup_ratio DOUBLE -- estimated share that could be saved (0-1)
);

-- Metrics that a finding rests on.
CREATE TABLE ncu_rule_metric (
    run_id UUID NOT NULL, -- the run
    launch_id BIGINT NOT NULL, -- the result
    finding_id INTEGER NOT NULL, -- the finding
    metric VARCHAR NOT NULL, -- name of the metric
    value DOUBLE, -- its value
    advice VARCHAR -- what to do about it; NULL when not said
);

-- Cells of the tables that findings come with, as of the source lines or instructions that a finding is about.
CREATE TABLE ncu_rule_cell (
    run_id UUID NOT NULL, -- the run
    launch_id BIGINT NOT NULL, -- the result
    finding_id INTEGER NOT NULL, -- the finding
    table_number INTEGER NOT NULL, -- table of the finding: 1, 2, ...
    title VARCHAR NOT NULL, -- title of the table
    row_number INTEGER NOT NULL, -- row of the table: 1, 2, ...
    column_number INTEGER NOT NULL, -- column of the table: 1, 2, ...
    header VARCHAR NOT NULL, -- of the column
    value DOUBLE, -- the cell; NULL for a text
    text VARCHAR -- the cell when it is a text
);

-- Spelling of a kernel's name that the tools share: namespaces, types of template values and blanks dropped; made by prof.
CREATE TABLE kernel_spelling (
    run_id UUID NOT NULL, -- the run
    kernel_name_id BIGINT NOT NULL, -- the kernel name
    spelling VARCHAR NOT NULL -- its name in the shared spelling
);

-- What a device can do at most, dense, by its exact name.
CREATE TABLE device_peak (
    origin VARCHAR NOT NULL, -- builtin or user; a user row counts before a built-in one
    device VARCHAR NOT NULL, -- the device's exact name as the driver gives it, e.g. NVIDIA H200
    resource VARCHAR NOT NULL, -- precision of the inputs: fp64, fp32, tf32, bf16, fp16, fp8, fp4, int8 (with tensor_ before it where tensor
        -- cores do it); or dram
    accumulate VARCHAR NOT NULL, -- precision of the sums: fp64, fp32, fp16, int32; empty for dram
    flop_per_s DOUBLE, -- dense operations a second, a multiply-add being 2; NULL for dram
    bytes_per_s DOUBLE, -- bytes a second; NULL unless dram
    doc VARCHAR NOT NULL, -- clock or variant it holds for
    reference VARCHAR NOT NULL, -- where the figure is from
    checked_on DATE NOT NULL -- when it was read there
);

-- Names of the operators of a run.
CREATE TABLE op_name (
    run_id UUID NOT NULL, -- the run
    op_name_id BIGINT NOT NULL, -- the run's base plus 1, 2, ...: no other run has it
    name VARCHAR NOT NULL -- operator as PyTorch names it, e.g. aten::mm
);

-- Distinct inputs that operators were called with; only where shapes were recorded (record_shapes). Each text is JSON with an entry for
-- each input.
CREATE TABLE op_input (
    run_id UUID NOT NULL, -- the run
    op_input_id BIGINT NOT NULL, -- the run's base plus 1, 2, ...: no other run has it
    shapes VARCHAR, -- sizes of each tensor, e.g. [[1, 512], [512, 64], []]
    types VARCHAR, -- type of each input, e.g. ["c10::BFloat16", "c10::BFloat16", "Scalar"]; NULL when not recorded
    strides VARCHAR, -- strides of each tensor; NULL when not recorded
    concrete VARCHAR -- value of each input that is no tensor; NULL when not recorded
);

-- One call of an operator on the CPU: by the PyTorch profiler, or an NVTX range of torch.autograd.profiler.emit_nvtx. Device times are
-- those of the kernels, copies and fills it launched.
CREATE TABLE op (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    op_id BIGINT NOT NULL, -- the run's base plus 1, 2, ...: no other run has it
    parent_op_id BIGINT, -- the operator that called it: innermost one open on its thread when it began; NULL for an outermost one
    forward_op_id BIGINT, -- the forward operator whose gradient this one computes; NULL when none is known
    depth INTEGER NOT NULL, -- 1 for an outermost operator
    pid INTEGER NOT NULL, -- calling process
    tid INTEGER NOT NULL, -- calling thread
    op_name_id BIGINT NOT NULL, -- name
    op_input_id BIGINT, -- inputs; NULL when not recorded
    stack_id BIGINT, -- Python functions it was called in; NULL when not recorded
    sequence_id BIGINT, -- autograd's sequence number, the same in a forward operator and its backward; NULL when none
    is_folded BOOLEAN NOT NULL, -- an operator of the same name did nothing but call it: PyTorch's key_averages counts the two as one call
    is_nested BOOLEAN NOT NULL, -- an operator of the same name is open around it, so that its total is part of that one's
    start_ns BIGINT NOT NULL, -- start of the call
    duration_ns BIGINT NOT NULL, -- time in the call
    self_cpu_ns BIGINT NOT NULL, -- time in the call less that in the operators and CUDA API calls directly inside it
    self_device_ns BIGINT, -- sum of the durations of the device work launched by it but not by an operator inside it; NULL when the source
        -- holds no device work at all
    total_device_ns BIGINT, -- sum of the durations of the device work launched by it or by an operator inside it; NULL likewise
    self_work_count INTEGER, -- kernels, copies and fills in self_device_ns
    flop_count BIGINT, -- floating-point operations by PyTorch's formulas (a multiply-add is 2); NULL when PyTorch has none for it or its
        -- inputs were not recorded
    device_alloc_bytes BIGINT, -- GPU memory allocated in it but not by an operator inside it; NULL when memory was not recorded
    device_free_bytes BIGINT, -- GPU memory freed, likewise; not negative
    host_alloc_bytes BIGINT, -- CPU memory allocated, likewise
    host_free_bytes BIGINT, -- CPU memory freed, likewise; not negative
    range_context_id BIGINT NOT NULL, -- the set of ranges it was called in; 0 outside every range
    path_id BIGINT NOT NULL -- the path of names of these ranges; 0 outside every range
);

-- One allocation or release of memory by PyTorch's allocators; only where memory was recorded (profile_memory).
CREATE TABLE memory_event (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER NOT NULL, -- process
    tid INTEGER NOT NULL, -- thread
    time_ns BIGINT NOT NULL, -- when
    device_type VARCHAR NOT NULL, -- whose memory: cpu, cuda, hip, ...
    device_id INTEGER, -- GPU; NULL for the CPU's memory
    address BIGINT, -- where it lies; NULL when not said
    size_bytes BIGINT NOT NULL, -- bytes allocated; negative when freed
    allocated_bytes BIGINT, -- bytes the allocator has given out after it; NULL when not said
    reserved_bytes BIGINT, -- bytes the allocator holds after it; NULL when not said
    op_id BIGINT, -- innermost operator open on the thread; 0 outside every operator
    range_context_id BIGINT NOT NULL, -- the set of ranges it happened in; 0 outside every range
    path_id BIGINT NOT NULL -- the path of names of these ranges; 0 outside every range
);

-- Distinct stacks of Python functions; only where stacks were recorded (with_stack).
CREATE TABLE python_stack (
    run_id UUID NOT NULL, -- the run
    stack_id BIGINT NOT NULL, -- the run's base plus 1, 2, ...: no other run has it
    parent_stack_id BIGINT, -- the stack without its innermost function; NULL for an outermost function
    depth INTEGER NOT NULL, -- functions on the stack
    function VARCHAR NOT NULL, -- innermost function as recorded, e.g. model.py(17): forward, or nn.Module: Linear_3
    is_module BOOLEAN NOT NULL, -- whether that function is the call of an nn.Module
    module_path VARCHAR -- names of the nn.Modules on the stack, outermost first, joined by ' > '; NULL without one
);

-- One call of a Python function; only where stacks were recorded (with_stack).
CREATE TABLE python_call (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER NOT NULL, -- process
    tid INTEGER NOT NULL, -- thread
    stack_id BIGINT NOT NULL, -- the function and what called it
    start_ns BIGINT NOT NULL, -- start of the call
    duration_ns BIGINT NOT NULL, -- time in the call
    self_cpu_ns BIGINT NOT NULL, -- time in the call less that in the Python functions directly inside it
    self_device_ns BIGINT, -- sum of the durations of the device work launched by it but not by a Python function inside it; NULL when the
        -- source holds no device work at all
    total_device_ns BIGINT, -- sum of the durations of the device work launched by it or by a Python function inside it; NULL likewise
    module_cpu_ns BIGINT, -- for an nn.Module: time in the call less that in the nn.Modules next inside it; NULL for other functions
    module_device_ns BIGINT, -- for an nn.Module: device work launched by it but not by an nn.Module inside it; NULL for other functions,
        -- and likewise
    path_id BIGINT NOT NULL -- the path of names of the ranges it was called in; 0 outside every range
);

-- Sums of PyTorch's key_averages(), as saved to a file.
CREATE TABLE op_average (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    row_number INTEGER NOT NULL, -- 1, 2, ... in the order of the file
    name VARCHAR NOT NULL, -- operator, CUDA API function, range or kernel
    kind VARCHAR NOT NULL, -- cpu: runs on the CPU; device: a kernel, copy, fill or range on the device
    shapes VARCHAR, -- sizes of each input as JSON; NULL unless grouped by them
    call_count BIGINT NOT NULL, -- calls
    self_cpu_ns BIGINT, -- time on the CPU less that of what it called; NULL when not in the file
    total_cpu_ns BIGINT, -- time on the CPU
    self_device_ns BIGINT, -- time of the device work it launched itself; NULL when not in the file
    total_device_ns BIGINT, -- time of the device work that it or what it called launched
    self_device_bytes BIGINT, -- GPU memory allocated less freed, by it but not by what it called; NULL when not in the file
    total_device_bytes BIGINT, -- GPU memory allocated less freed, what it called included
    self_host_bytes BIGINT, -- CPU memory, likewise
    total_host_bytes BIGINT, -- CPU memory, likewise
    flop_count BIGINT -- floating-point operations as PyTorch counts them; NULL when not in the file
);

-- Models of the run whose configuration was given, in a file of its own or within the facts of the workload.
CREATE TABLE model (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    model_id BIGINT NOT NULL, -- the run's base plus 1, 2, ...: no other run has it
    name VARCHAR NOT NULL, -- name in the configuration, else of its file
    architecture VARCHAR, -- first of the configuration's architectures; NULL when not said
    family VARCHAR NOT NULL, -- model_type of the configuration, e.g. deepseek_v2
    dtype VARCHAR, -- precision of the weights and of the computation: bf16, fp16, fp32, ...; NULL when not said
    hidden_size BIGINT, -- width of the decoder; NULL without one
    vocab_size BIGINT, -- entries of the vocabulary; NULL without a decoder
    layer_count BIGINT, -- layers of the decoder; NULL without one
    max_context_count BIGINT, -- positions the model was made for; NULL when not said
    image_token_count BIGINT -- positions of the prompt that one image takes, crops left out; NULL when not known
);

-- Distinct groups of equal layers of a model by component, with their shapes: all that parameters, FLOPs and bytes follow from.
CREATE TABLE model_layer (
    run_id UUID NOT NULL, -- the run
    model_id BIGINT NOT NULL, -- the model
    layer_id INTEGER NOT NULL, -- 1, 2, ... within the model, in the order of computation
    part VARCHAR NOT NULL, -- decoder, or another part: sam, clip, siglip, vit, pixtral, ... of the vision tower, projector, text (an
        -- encoder of text)
    view VARCHAR, -- picture that a vision part sees: image, global or crop; NULL for the decoder, and for what is counted as parameters
        -- only
    layer_group VARCHAR NOT NULL, -- which layers: embedding, layer 0, layers 1-11, head, ...
    layer_count BIGINT NOT NULL, -- layers of the group
    component VARCHAR NOT NULL, -- name within the layer, e.g. q_proj, attention, experts.gate_up_proj
    kind VARCHAR NOT NULL, -- linear, convolution, relative_position, attention, embedding, norm or parameter
    scope VARCHAR, -- what is multiplied: token, logit (positions whose logits are computed), latent (tokens of the context whose keys and
        -- values are expanded from a latent) or position (of a picture); NULL for kinds that multiply nothing
    input_size BIGINT, -- inputs of a matrix; of a convolution channels times the kernel's area
    output_size BIGINT, -- outputs of a matrix
    copy_count BIGINT, -- matrices of that shape stored in a layer: 1, or the experts
    active_count BIGINT, -- those of them that one token passes through
    head_count BIGINT, -- attention: heads of the queries
    kv_head_count BIGINT, -- attention: heads of keys and values
    key_size BIGINT, -- attention: size of a head's query and key
    value_size BIGINT, -- attention: size of a head's value
    window_size BIGINT, -- attention: tokens that a token sees, itself included; NULL for all
    latent_size BIGINT, -- attention: size of the latent that keys and values are made from and that is cached in their place (MLA); NULL
        -- without one
    rope_size BIGINT, -- attention: size of the rotary key cached beside the latent; NULL without a latent
    position_count BIGINT, -- vision: rows multiplied for one picture
    key_count BIGINT, -- vision attention: keys that each position sees
    parameter_count BIGINT NOT NULL, -- parameters of the component in one layer, all copies and biases; 0 where they are another row's
        -- (tied embeddings, a second view)
    weight_bits DOUBLE -- bits a stored parameter takes where it is quantised, scales of its blocks included; NULL: as dtype says
);

-- What was assumed where a configuration does not say it, and what was left out.
CREATE TABLE model_note (
    run_id UUID NOT NULL, -- the run
    model_id BIGINT NOT NULL, -- the model
    note_id INTEGER NOT NULL, -- 1, 2, ... within the model
    kind VARCHAR NOT NULL, -- assumed, left_out (figures are too small by it) or unknown
    note VARCHAR NOT NULL -- the sentence
);

-- Passes of the workload with what it says of them. A row without pass_id holds for every pass.
CREATE TABLE workload_pass (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pass_id INTEGER, -- 1, 2, ... within the source, in the order of the workload; NULL: every pass
    is_warmup BOOLEAN NOT NULL, -- a pass to warm up, whose time is left out
    prefill_count BIGINT, -- tokens of each prompt, image tokens included; NULL when not said
    decode_count BIGINT, -- tokens decoded one by one after the prompt, for each sequence: steps; NULL when not said
    batch_count BIGINT, -- sequences; NULL when options do not say: one
    image_count BIGINT, -- images of each prompt; NULL when not said
    crop_count BIGINT, -- crops of each image beside its global view; NULL when not said
    prefill_ns BIGINT, -- wall time of the prefill as the workload measured it; NULL when it did not
    decode_ns BIGINT, -- wall time of all decode steps, likewise
    vision_ns BIGINT, -- wall time of the vision part of the prefill, likewise
    input VARCHAR, -- input that it worked on, as the workload says; NULL when not said
    process_id INTEGER -- process that ran it, as in workload_process; NULL: every process
);

-- What the workload says of all its passes.
CREATE TABLE workload (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    model_id BIGINT, -- model whose configuration the workload carries; NULL when it carries none
    warmup_count BIGINT, -- passes to warm up at the beginning of the capture; NULL when not said
    capture VARCHAR -- kind of the timelines it is about, nsys or torch; NULL: all of the run's
);

-- Other names of devices of device_peak, for figures that are the same.
CREATE TABLE device_alias (
    origin VARCHAR NOT NULL, -- builtin, or user for rows of your own
    alias VARCHAR NOT NULL, -- exact name as the CUDA driver gives it
    device VARCHAR NOT NULL, -- name in device_peak
    doc VARCHAR NOT NULL -- why the figures are the same
);

-- What one streaming multiprocessor can do at most in a clock cycle, by compute capability: with clock and SMs of a device, a second
-- opinion on its peak.
CREATE TABLE sm_rate (
    origin VARCHAR NOT NULL, -- builtin, or user for rows of your own
    compute_capability VARCHAR NOT NULL, -- e.g. 9.0
    device VARCHAR NOT NULL, -- exact name where chips of one compute capability differ; else empty
    resource VARCHAR NOT NULL, -- as in device_peak
    accumulate VARCHAR NOT NULL, -- as in device_peak
    flop_per_cycle DOUBLE NOT NULL, -- dense operations a cycle, a multiply-add being 2
    reference VARCHAR NOT NULL -- where the figure is from
);

-- What prof itself did to capture a run: one row a run that `prof capture` made, of a job of several nodes one row a node. From its
-- run.json.
CREATE TABLE capture (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: run.json
    mode VARCHAR NOT NULL, -- light, deep or custom (the tools were named)
    command VARCHAR NOT NULL, -- command line of the workload, secrets masked
    workload_key VARCHAR NOT NULL, -- hash of command line and working folder: the same for every run of one workload
    folder VARCHAR NOT NULL, -- working folder
    git_commit VARCHAR, -- commit of the working folder's repository; NULL without one
    git_branch VARCHAR, -- its branch; NULL without one
    is_git_dirty BOOLEAN, -- whether it held changes that were not committed; NULL without a repository
    started_at TIMESTAMP NOT NULL, -- UTC start
    duration_ns BIGINT, -- start of the first recording to the end of the last; NULL when prof was killed
    status VARCHAR NOT NULL, -- ok, partial (a recording failed or was stopped), failed (nothing was captured) or running (prof was killed)
    reason VARCHAR, -- why the status is not ok
    options_key VARCHAR -- hash of the options and of the inputs' content: captures with the same one and the same workload_key are the
        -- same; NULL from an older prof
);

-- One recording: one run of the workload under a tool, or without one.
CREATE TABLE capture_pass (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: run.json
    pass_id INTEGER NOT NULL, -- 1, 2, ... within the run, in the order in which they ran; of node K of a job from 1000 * K on. Passes of a
        -- job that ran at once have the same tool and repeat_id
    name VARCHAR NOT NULL, -- tool and number, e.g. nsys-2; the same for passes of a job that ran at once
    tool VARCHAR NOT NULL, -- none (baseline), nsys, ncu or torch
    mode VARCHAR NOT NULL, -- mode of the tool, which overhead is grouped by: baseline, light, deep, kernels or operators
    repeat_id INTEGER NOT NULL, -- repeat number among the recordings of the tool, from 1
    command VARCHAR NOT NULL, -- command line that was run, secrets masked
    tool_version VARCHAR, -- version of the tool; NULL for none
    started_at TIMESTAMP NOT NULL, -- UTC start
    duration_ns BIGINT, -- start of the tool to its end, reports written; NULL when it did not end
    workload_ns BIGINT, -- start of the workload's process to its end; NULL when it did not start or end
    exit_code INTEGER, -- of the workload; NULL when it did not end by itself
    signal VARCHAR, -- that ended the workload, e.g. SIGKILL; NULL when none did
    status VARCHAR NOT NULL, -- ok, failed, timeout, too_large, interrupted, no_report, not_run or running (prof was killed)
    reason VARCHAR, -- why the status is not ok
    artifact_bytes BIGINT, -- size of the files it wrote; NULL when it wrote none
    is_marked BOOLEAN NOT NULL, -- whether prof's helper marked stages in it
    clock_control VARCHAR -- of ncu: none or base; NULL for other tools
);

-- Windows in which serving engines were recorded under load (prof capture --serving, --attach).
CREATE TABLE serving_window (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: run.json
    pass_id INTEGER NOT NULL, -- the recording
    ready_ns BIGINT, -- from the start of the engine until it served; NULL where that was not asked
    waited_ns BIGINT NOT NULL, -- under load before the window
    is_steady BOOLEAN NOT NULL, -- whether launches were steady when it began
    launches_per_s DOUBLE, -- of kernels and graphs in all processes, just before it; NULL where that was not seen
    process_count INTEGER NOT NULL, -- processes that launched GPU work before it
    window_ns BIGINT NOT NULL, -- its length
    client_token_count BIGINT NOT NULL, -- times between two tokens of a request at the client that lie in it; 0 where its result does not
        -- say when tokens came
    client_tpot_ns DOUBLE, -- mean of these times; NULL without one
    client_request_count BIGINT NOT NULL, -- requests whose first token came in it
    client_ttft_ns DOUBLE -- mean TTFT of these; NULL without one
);

-- The sources that were ingested from each recording.
CREATE TABLE capture_source (
    run_id UUID NOT NULL, -- the run
    pass_id INTEGER NOT NULL, -- the recording
    captured_source_id INTEGER NOT NULL -- source_id of what it captured
);

-- Files that were given to the workload, by --input and --inputs.
CREATE TABLE capture_input (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: run.json
    path VARCHAR NOT NULL, -- path as given, or below the folder that was given; of a manifest's input where the file lies
    size_bytes BIGINT, -- its size; NULL when it could not be read
    sha256 VARCHAR, -- SHA-256 of its content; NULL when it could not be read
    input VARCHAR, -- id of an input of the manifest, each once in a run; NULL by --input
    width_count BIGINT, -- width in pixels; this and the next three are what the manifest says, NULL where it does not
    height_count BIGINT, -- height in pixels
    page_count BIGINT, -- pages
    token_count BIGINT -- tokens
);

-- GPUs of the machine as NVML listed them before the first recording.
CREATE TABLE capture_device (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: run.json
    device_id INTEGER NOT NULL, -- NVML's number of the GPU, as nvidia-smi shows it; of node K of a job 1000 * K more
    uuid VARCHAR NOT NULL, -- its UUID
    name VARCHAR, -- product name; NULL, as in the other columns, when NVML does not report it
    bus_id VARCHAR, -- PCI address
    memory_bytes BIGINT, -- device memory
    power_limit_w DOUBLE, -- enforced power limit
    max_sm_clock_hz BIGINT, -- highest SM clock
    max_memory_clock_hz BIGINT, -- highest memory clock
    is_ecc BOOLEAN, -- whether memory is checked for errors
    is_mig BOOLEAN, -- whether it is split into instances (MIG)
    other_process_count BIGINT -- compute processes on it before the first recording
);

-- NVML samples of the GPUs during recordings, about ten per second.
CREATE TABLE device_sample (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: run.json
    pass_id INTEGER NOT NULL, -- the recording
    device_id INTEGER NOT NULL, -- NVML's number of the GPU, as in capture_device
    time_ns BIGINT NOT NULL, -- sample time, from the start of the recording
    sm_ratio DOUBLE, -- GPU utilisation: share of NVML's last sample period in which a kernel ran (0-1); NULL, as in the other columns, when
        -- NVML does not report it
    memory_ratio DOUBLE, -- memory utilisation: share of NVML's last sample period in which memory was read or written (0-1)
    memory_used_bytes BIGINT, -- memory in use, by all processes
    sm_clock_hz BIGINT, -- SM clock
    memory_clock_hz BIGINT, -- memory clock
    power_w DOUBLE, -- power drawn
    temperature_c DOUBLE, -- temperature of the chip
    throttle_mask BIGINT, -- reasons for throttled clocks: bits of NVML's nvmlClocksEventReasons
    other_process_count BIGINT -- compute processes on the GPU other than the workload's
);

-- Mangled names of a run's kernels from the timeline, which ncu selects kernels by.
CREATE TABLE kernel_symbol (
    run_id UUID NOT NULL, -- the run
    kernel_name_id BIGINT NOT NULL, -- the kernel name
    symbol VARCHAR NOT NULL -- a mangled name of it
);

-- Where the time of a GPU went between the first start and the last end of a range's device work. One row per range and GPU with its
-- work, and one for all work of the source on the GPU. A GPU is idle while no work of the source runs on it: idle_part has that time,
-- which with the columns here adds up to the whole exactly.
CREATE TABLE device_time (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    device_id INTEGER NOT NULL, -- GPU
    range_id BIGINT, -- the range whose device work is meant; NULL: all device work of the source
    start_ns BIGINT NOT NULL, -- start of its first device work
    end_ns BIGINT NOT NULL, -- end of its last device work
    kernel_ns BIGINT NOT NULL, -- kernels of its own ran
    graph_ns BIGINT NOT NULL, -- graph replays of its own whose kernels were not traced ran, and no kernel of its own
    copy_ns BIGINT NOT NULL, -- copies and fills of its own ran, and neither of those
    other_ns BIGINT NOT NULL, -- only work of other ranges ran
    gap_count BIGINT NOT NULL -- idle gaps
);

-- Idle time within the times of device_time, classified by what the thread that launches the next work did until that launch returned;
-- queries of events and streams count as time outside CUDA. One row per part that is not empty.
CREATE TABLE idle_part (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    device_id INTEGER NOT NULL, -- GPU
    range_id BIGINT, -- as in device_time
    part VARCHAR NOT NULL, -- part of idle time, by stage_part
    ns BIGINT NOT NULL -- its time
);

-- Idle gaps of a GPU, grouped by the work before, the work after and the ranges that launched it.
CREATE TABLE gap_sum (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pattern_id INTEGER NOT NULL, -- number of the group within the source, from 1
    device_id INTEGER NOT NULL, -- GPU
    range_context_id BIGINT, -- the set of ranges that the next work was launched in; NULL when its launch was not captured, and for gaps
        -- of any set of the path: beyond the first 20,000 groups of a source sets are not told apart
    path_id BIGINT, -- the path of names of these ranges; 0 outside every range, NULL when the launch was not captured
    opening_mask BIGINT NOT NULL, -- those of these ranges whose work on the GPU begins at the end of the gap: bit 0 is the outermost
    before_kernel_name_id BIGINT, -- kernel that ended last before the gap; NULL when it was no kernel
    before_operation VARCHAR, -- copy, fill or "graph replay" that ended last before it; NULL when it was a kernel
    after_kernel_name_id BIGINT, -- kernel that began at its end; NULL when it was no kernel
    after_operation VARCHAR, -- copy, fill or "graph replay" that began at its end; NULL when it was a kernel
    gap_count BIGINT NOT NULL, -- gaps
    duration_ns BIGINT NOT NULL, -- their length
    max_ns BIGINT NOT NULL, -- the longest
    start_ns BIGINT NOT NULL -- end of the work before the first of them
);

-- The parts of the gaps of gap_sum, as in idle_part. One row per part that is not empty.
CREATE TABLE gap_sum_part (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pattern_id INTEGER NOT NULL, -- as in gap_sum
    part VARCHAR NOT NULL, -- part of idle time, by stage_part
    ns BIGINT NOT NULL -- its time
);

-- The longest idle gaps of each GPU of a source, at most 10,000 per GPU.
CREATE TABLE gap (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    device_id INTEGER NOT NULL, -- GPU
    start_ns BIGINT NOT NULL, -- end of the work before
    duration_ns BIGINT NOT NULL, -- to the start of the work after
    part VARCHAR NOT NULL, -- the largest of its parts, by stage_part; the first of equals
    pid INTEGER, -- process that launched the work after; NULL when its launch was not captured
    tid INTEGER, -- thread that launched it
    range_context_id BIGINT, -- the set of ranges the launch was made in
    path_id BIGINT, -- the path of names of these ranges; 0 outside every range
    opening_mask BIGINT NOT NULL, -- those of them whose work on the GPU begins at the end of the gap: bit 0 is the outermost
    before_kernel_name_id BIGINT, -- kernel that ended last before the gap; NULL when it was no kernel
    before_operation VARCHAR, -- copy, fill or "graph replay" that ended last before it; NULL when it was a kernel
    after_kernel_name_id BIGINT, -- kernel that began at its end; NULL when it was no kernel
    after_operation VARCHAR -- copy, fill or "graph replay" that began at its end; NULL when it was a kernel
);

-- The parts of the gaps of gap, as in idle_part. One row per part that is not empty.
CREATE TABLE gap_part (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    device_id INTEGER NOT NULL, -- GPU
    start_ns BIGINT NOT NULL, -- as in gap
    part VARCHAR NOT NULL, -- part of idle time, by stage_part
    ns BIGINT NOT NULL -- its time
);

-- One collective or point-to-point call of a communication library with its arguments, where the capture holds them. Its kernel is known
-- either by the range of the library that launched it, or by itself: device_id, stream_id and kernel_start_ns as in kernel.
CREATE TABLE collective_call (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER, -- calling process; NULL when not known
    tid INTEGER, -- calling thread; NULL when not known
    start_ns BIGINT, -- start of the call; NULL when only its kernel is known
    duration_ns BIGINT, -- time in the call; NULL when only its kernel is known
    range_id BIGINT, -- range in which its kernel was launched: of the call, or of ncclGroupEnd for a call within a group; NULL when known
        -- by the kernel
    device_id INTEGER, -- GPU of its kernel; NULL when known by the range
    stream_id INTEGER, -- CUDA stream of its kernel; NULL when known by the range
    kernel_start_ns BIGINT, -- start of its kernel; NULL when known by the range
    operation VARCHAR NOT NULL, -- all-reduce, all-gather, reduce-scatter, all-to-all, broadcast, reduce, gather, scatter, send or recv;
        -- others as recorded
    in_bytes BIGINT, -- bytes that this rank gives; NULL when not known
    out_bytes BIGINT, -- bytes that this rank receives; NULL when not known
    dtype VARCHAR, -- type of the elements as recorded; NULL when not recorded
    group_name VARCHAR, -- communicator: the library's or PyTorch's name of it; NULL when not recorded
    group_ranks VARCHAR, -- ranks of the group in the job, as recorded; NULL when not recorded
    group_size INTEGER, -- ranks in the communicator; NULL when not known
    rank_id INTEGER -- this process's rank in the communicator; NULL when not known
);

-- Names that a user gave to runs to compare others with.
CREATE TABLE baseline (
    run_id UUID NOT NULL, -- the run
    name VARCHAR NOT NULL, -- unique
    set_at TIMESTAMP NOT NULL -- UTC time when the name was given to it
);

-- By which definitions and rules the facts of a run were derived: the tables that are code, made anew where they differ.
CREATE TABLE derivation (
    run_id UUID NOT NULL, -- the run
    checksum VARCHAR NOT NULL -- of the definitions of facts and of the rules
);

-- The rules that findings are made by: what each looks for, how much of that could be saved, and what to do about it. Made by prof, and
-- findings are derived again whenever a number here differs.
CREATE TABLE finding_rule (
    finding_id VARCHAR NOT NULL, -- name of the rule
    title VARCHAR NOT NULL, -- what it finds
    bound VARCHAR NOT NULL, -- kind of saving: at most (upper bound) or about (estimate)
    saving VARCHAR NOT NULL, -- how the saving is computed
    advice VARCHAR NOT NULL, -- what to do
    value DOUBLE, -- threshold, see saving; NULL without one
    unit VARCHAR, -- unit of the threshold
    subject VARCHAR, -- subject of the finding: kernel, family, function, ranges or operation; NULL without one. Each kernel is a finding of
        -- its own
    query VARCHAR NOT NULL, -- query that shows the evidence
    options VARCHAR, -- options of that query that a finding fills in: stage, device, kernel, source; top: all its rows; by: by family; NULL
        -- when none
    detail VARCHAR, -- query with more detail, with the options stage, device and source; stragglers takes only source, and needs a run with
        -- several ranks; NULL without one
    needs VARCHAR NOT NULL, -- what the run must hold
    reference VARCHAR NOT NULL -- where the rule is from
);

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

-- How long each execution of a stage took by the clocks of prof's helper, with and without a profiler: one row an execution of a range that
-- may be a stage. It lies in the files that run.json names as stage_times.
CREATE TABLE stage_execution (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: run.json
    pass_id INTEGER NOT NULL, -- the recording
    pid INTEGER NOT NULL, -- process
    rank_id INTEGER, -- rank of the process in its job; NULL when it has none
    execution_id BIGINT NOT NULL, -- 1, 2, ... in the order in which they began in the process
    path VARCHAR NOT NULL, -- normalised names of the helper's ranges around it and its own, as range_path.path
    is_warmup BOOLEAN NOT NULL, -- whether the helper knows it as warm-up
    batch_count BIGINT, -- sequences; NULL when unknown
    token_count BIGINT, -- tokens of each prompt of a prefill, decode steps of a decode; NULL when unknown
    cpu_ns BIGINT NOT NULL, -- host clock, from opening to closing the range
    gpu_ns BIGINT, -- CUDA events, from opening the range, or the end of the work queued before it, to the end of its own work, the longest
        -- GPU; NULL where PyTorch uses no GPU, and when not measured
    input VARCHAR -- input that it worked on, as the workload says; NULL when not said
);

-- Files that the workload wrote and `prof capture --keep` kept in the run's folder, as the last recording that wrote each left it.
CREATE TABLE capture_kept (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: run.json
    pass_id INTEGER NOT NULL, -- the recording that wrote it last
    path VARCHAR NOT NULL, -- path below the working folder
    size_bytes BIGINT, -- its size; NULL when it is not known
    sha256 VARCHAR, -- SHA-256 of its content; NULL when it was not kept
    reason VARCHAR -- why it was not kept; NULL when it was
);

-- Tags of the inputs of a manifest.
CREATE TABLE capture_input_tag (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: run.json
    input VARCHAR NOT NULL, -- id of the input
    key VARCHAR NOT NULL, -- key of the tag, once an input
    value VARCHAR NOT NULL -- its value
);

-- Processes whose passes a workload's facts list apart: the ranks of a job.
CREATE TABLE workload_process (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: the facts
    process_id INTEGER NOT NULL, -- 1, 2, ... within the source
    pid INTEGER NOT NULL, -- the process
    rank_id INTEGER, -- its rank in its job; NULL when it has none
    world_size INTEGER, -- ranks of its job; NULL when not said
    parallel_size INTEGER -- ranks that its model is split over by tensor parallelism; NULL when not said, which is not one
);

-- Passes that the workload ran without a profiler and timed itself, as a file beside a capture has them.
CREATE TABLE workload_alone (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: the file
    pass_id INTEGER NOT NULL, -- 1, 2, ... within the source, in the order of the workload
    is_warmup BOOLEAN NOT NULL, -- a pass to warm up, whose time is left out
    prefill_count BIGINT, -- as in workload_pass, like the next eight columns
    decode_count BIGINT, -- decode steps for each sequence
    batch_count BIGINT, -- sequences
    image_count BIGINT, -- images of each prompt
    crop_count BIGINT, -- crops of each image beside its global view
    prefill_ns BIGINT, -- wall time of the prefill as the workload measured it; NULL when it did not
    decode_ns BIGINT, -- wall time of all decode steps, likewise
    vision_ns BIGINT, -- wall time of the vision part of the prefill, likewise
    input VARCHAR -- input that it worked on, as the workload says; NULL when not said
);

-- What PyTorch's allocator had given out and reserved on a GPU around an execution of stage_execution. Peaks are those since the process
-- began, or since it last reset them: where one is higher after the execution than before, the execution reached it.
CREATE TABLE execution_memory (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: run.json
    pass_id INTEGER NOT NULL, -- the recording
    pid INTEGER NOT NULL, -- process
    execution_id BIGINT NOT NULL, -- the execution, as in stage_execution
    device_id INTEGER NOT NULL, -- GPU as PyTorch counts: among those that the process may use
    allocated_before_bytes BIGINT NOT NULL, -- given out before it
    allocated_after_bytes BIGINT NOT NULL, -- given out after it
    allocated_peak_before_bytes BIGINT NOT NULL, -- peak of what was given out, before it
    allocated_peak_after_bytes BIGINT NOT NULL, -- the same, after it
    reserved_before_bytes BIGINT NOT NULL, -- reserved before it, with what was given out
    reserved_after_bytes BIGINT NOT NULL, -- reserved after it
    reserved_peak_before_bytes BIGINT NOT NULL, -- peak of what was reserved, before it
    reserved_peak_after_bytes BIGINT NOT NULL -- the same, after it
);

-- Memory that the program got from CUDA or gave back (nsys profile --cuda-memory-usage=true): one row an allocation or release.
CREATE TABLE cuda_allocation (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER, -- process; NULL when not recorded
    device_id INTEGER NOT NULL, -- GPU
    time_ns BIGINT NOT NULL, -- when
    memory VARCHAR NOT NULL, -- kind of memory as nsys names it: Device, Pinned, Managed, ...
    address BIGINT NOT NULL, -- where it lies
    size_bytes BIGINT NOT NULL -- bytes allocated; negative when freed
);

-- Which node of a job each of the captures of a run is of: one row a folder of `prof capture --node-rank`. From its run.json. GPUs and
-- recordings of node K have the numbers K * 1000 + n in the run, where n is their number on the node.
CREATE TABLE capture_node (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: run.json
    node_rank INTEGER NOT NULL, -- 0, 1, ... among the nodes
    node_count INTEGER, -- nodes of the job; NULL when unknown
    host VARCHAR, -- the machine; NULL when unknown
    job_key VARCHAR NOT NULL -- hash of what identifies the job: the same on all of its nodes
);

-- Sums that a tool reported in place of a timeline: rows of the reports of nsys stats, and kernels of Proton's trees. Columns that a report
-- lacks, or rounds to nothing, are NULL.
CREATE TABLE reported_sum (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    report VARCHAR NOT NULL, -- what the row adds up: kernel, kernel_grid, memory_time, memory_size, api_call, osrt_call, range (CPU time),
        -- range_gpu (GPU spans) or range_kernel (kernels by range)
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

-- Figures that another tool computed of a run and wrote to a file: as it reported them, in base units. prof computes nothing from them.
CREATE TABLE reported_value (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: the file
    row_number INTEGER NOT NULL, -- 1, 2, ... in the order of the file
    scope VARCHAR NOT NULL, -- what it is about: run, stage, model, kernel, range or point (of a sweep)
    subject VARCHAR, -- the stage, the kernel, the range, the point; NULL for the run and for the whole model
    metric VARCHAR NOT NULL, -- name of the figure: time_ns, tokens_per_s, mfu_ratio, flops, ...
    unit VARCHAR, -- ns, count, bytes, ratio, flop, mac (multiply-add), flop_per_s or tokens_per_s; NULL where the file does not say
    value DOUBLE, -- the figure, of several passes their mean; NULL where the file has null
    std DOUBLE, -- standard deviation over the passes as the tool computed it; NULL where the file has none
    call_count BIGINT -- calls that the figure sums; NULL where the file has none
);

-- Benchmarks of a serving engine as files of load generators have them: load, counts and throughput of each. The summary and the requests
-- of one benchmark may be two files, and so two rows here; served has each benchmark once.
CREATE TABLE serving_benchmark (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: the file
    benchmark_id INTEGER NOT NULL, -- 1, 2, ... in the order of the file
    tool VARCHAR NOT NULL, -- the load generator by its form: vllm-bench, guidellm, aiperf, ...; or what a file of prof's own form says
    label VARCHAR, -- name of the benchmark as the file says it: vLLM's label, SGLang's tag, the scenario of MLPerf
    backend VARCHAR, -- engine or API that was asked, as the file calls it
    model VARCHAR, -- model that was asked, as the file calls it
    date VARCHAR, -- when it ran, as the file has it: most tools write local time without its zone
    duration_ns DOUBLE, -- length of the benchmark
    completed_count BIGINT, -- requests that succeeded
    failed_count BIGINT, -- requests that failed; NULL, like all that follows, when the file does not say
    input_token_count BIGINT, -- tokens of all prompts
    output_token_count BIGINT, -- tokens generated in all
    target_requests_per_s DOUBLE, -- rate at which requests were sent, as asked for; NULL also when no rate was asked for
    is_rate_unlimited BOOLEAN, -- requests were sent without waiting, but for the limit of concurrency
    concurrency_limit_count BIGINT, -- requests at once at most, as asked for
    concurrency_mean_count DOUBLE, -- requests at once on average, as measured
    requests_per_s DOUBLE, -- requests completed per second
    output_tokens_per_s DOUBLE, -- tokens generated per second
    total_tokens_per_s DOUBLE -- tokens of prompts and generated per second
);

-- Latencies of a benchmark at the client, over its requests (itl: over its tokens). Statistics that the file lacks are NULL.
CREATE TABLE serving_benchmark_latency (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    benchmark_id INTEGER NOT NULL, -- the benchmark of serving_benchmark
    metric VARCHAR NOT NULL, -- ttft: time to the first token; tpot: time per output token after the first, one value a request; itl: time
        -- between tokens or chunks, one value each; e2e: the whole request
    reported_as VARCHAR NOT NULL, -- what the file calls it: inter_token_latency of genai-perf and aiperf is tpot
    mean_ns DOUBLE, -- mean
    std_ns DOUBLE, -- standard deviation
    min_ns DOUBLE, -- shortest
    p50_ns DOUBLE, -- median
    p90_ns DOUBLE, -- 90th percentile, as the tool computes percentiles
    p95_ns DOUBLE, -- 95th percentile
    p99_ns DOUBLE, -- 99th percentile
    p999_ns DOUBLE, -- 99.9th percentile
    max_ns DOUBLE -- longest
);

-- Functions of kernels of which Nsight Compute measured single instructions (metrics of its SourceCounters section, warp samples).
CREATE TABLE ncu_function (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: the report
    function_id INTEGER NOT NULL, -- 1, 2, ... within the source
    symbol VARCHAR -- mangled name; NULL when not said
);

-- Source files that instructions come from, as the compiler named them (-lineinfo).
CREATE TABLE ncu_source_file (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: the report
    file_id INTEGER NOT NULL, -- 1, 2, ... within the source
    name VARCHAR NOT NULL, -- path, relative where it is below the program's own folder; of PTX, which compiled code has in itself, the
        -- first 12 digits of sha256 and .ptx
    sha256 VARCHAR, -- SHA-256 of the text as the report has it, in hexadecimal; NULL without a text
    text VARCHAR -- its text, secrets masked, where the report has it (ncu --import-source yes; of PTX, up to 8 MiB) and it is of the size
        -- that the compiler saw; else NULL
);

-- Instructions of which values are known, with the source line they come from. The report has the code itself in a form that only NVIDIA's
-- tools can print in full.
CREATE TABLE ncu_instruction (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: the report
    function_id INTEGER NOT NULL, -- the function
    offset_bytes INTEGER NOT NULL, -- from the begin of the function
    file_id INTEGER, -- source file; NULL when the code was compiled without -lineinfo
    line INTEGER, -- line in it: 1, 2, ...; of inlined code, the line of the inlined function; NULL when not known
    opcode VARCHAR, -- operation in the GPU's code without its modifiers, as LDG or HMMA; NULL when not known (it is for compute capability
        -- 9.0)
    ptx_file_id INTEGER, -- text of the PTX, in ncu_source_file; NULL when the code was compiled without -lineinfo, or the run was stored
        -- before prof kept this
    ptx_line INTEGER -- line in it: 1, 2, ...; NULL when not known
);

-- Value of one metric at one instruction of one result. Zeros are not stored: at an instruction without a row, a metric that the result has
-- is 0 or does not apply.
CREATE TABLE ncu_instance (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: the report
    launch_id BIGINT NOT NULL, -- the result
    metric_id BIGINT NOT NULL, -- the metric
    function_id INTEGER NOT NULL, -- the function
    offset_bytes INTEGER NOT NULL, -- the instruction: its place in the function
    value DOUBLE NOT NULL -- the value, in the metric's base unit
);

-- What Nsight Compute sampled while a profiled kernel ran (PM sampling): the course of a metric within it. Samples of one value in a row
-- are one row; of more than 512 rows, neighbours are put together.
CREATE TABLE ncu_sample (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: the report
    launch_id BIGINT NOT NULL, -- the result
    metric_id BIGINT NOT NULL, -- the metric
    start_ns BIGINT NOT NULL, -- start, from the kernel's in the pass that sampled the metric: each pass runs it anew; negative where
        -- the sample began before the kernel
    end_ns BIGINT NOT NULL, -- end
    sample_count INTEGER NOT NULL, -- samples
    value DOUBLE NOT NULL -- mean of the samples, in the metric's base unit
);

-- Requests of a benchmark of a serving engine one by one, as a load generator saved them with its details. Requests that failed have no
-- latencies.
CREATE TABLE serving_request (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    benchmark_id INTEGER NOT NULL, -- the benchmark of serving_benchmark, of the same source
    request_id INTEGER NOT NULL, -- 1, 2, ... in the order of the file
    input_token_count BIGINT, -- tokens of the prompt; NULL when the file does not have them
    output_token_count BIGINT, -- tokens generated; 0 of a request that failed; NULL when the file does not have them
    ttft_ns DOUBLE, -- time to the first token; NULL of a request that failed, and of one that was not streamed
    after_ns DOUBLE, -- from the first token to the last: the sum of the times between tokens; NULL when the file does not have them
    gap_count INTEGER, -- number of these times: tokens or chunks after the first; NULL when the file does not have it
    e2e_ns DOUBLE -- the whole request, as the load generator has it; NULL when the file does not have it, in which case it is ttft_ns +
        -- after_ns, and of a request that failed
);

-- Launches that a stream capture recorded into a CUDA graph: nothing ran then, the graph's replays run it. From traces of the PyTorch
-- profiler.
CREATE TABLE captured_launch (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    capture_number INTEGER NOT NULL, -- the stream capture: 1, 2, ... within the source, in the order of their starts
    launch_number INTEGER NOT NULL, -- 1, 2, ... within the capture, in the order of the calls
    is_forked BOOLEAN NOT NULL, -- whether a stream waited for an event meanwhile, so that the graph may have branches
    ended_ns BIGINT NOT NULL, -- when the stream capture ended
    pid INTEGER NOT NULL, -- calling process
    tid INTEGER NOT NULL, -- calling thread
    start_ns BIGINT NOT NULL, -- start of the call
    api_name_id BIGINT NOT NULL, -- function
    kind VARCHAR NOT NULL, -- what it launched: kernel, copy or fill, or graph for a graph in the graph
    kernel_name_id BIGINT, -- name of the kernel; NULL when not recorded, which it is on AMD's GPUs only
    op_id BIGINT, -- innermost operator around the call; 0 outside every operator, NULL when operators were not recorded
    stack_id BIGINT -- Python functions around the call, as in python_stack; 0 outside every one, NULL when stacks were not recorded
);

-- What threads with Python were in when Nsight Systems took samples of them (--python-sampling).
CREATE TABLE python_sample (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER NOT NULL, -- process
    tid INTEGER NOT NULL, -- thread
    time_ns BIGINT NOT NULL, -- when
    stack_id BIGINT, -- Python functions the thread was in, as in python_stack; 0 outside every one, NULL when what the sample says cannot
        -- be read
    path_id BIGINT NOT NULL -- the path of names of the ranges open on the thread; 0 outside every range
);

-- Launches without device work in the capture. Calls that failed, and those that a stream capture recorded into a graph, are none. Runs of
-- an older prof do not have it.
CREATE TABLE unmet_launch (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER NOT NULL, -- calling process
    tid INTEGER NOT NULL, -- calling thread
    range_context_id BIGINT NOT NULL, -- the set of ranges the calls were made in; 0 outside every range
    path_id BIGINT NOT NULL, -- the path of names of these ranges; 0 outside every range
    api_name_id BIGINT NOT NULL, -- function
    kind VARCHAR NOT NULL, -- what it launches: kernel, copy, fill or graph
    call_count BIGINT NOT NULL, -- calls
    first_start_ns BIGINT NOT NULL, -- start of the first of them
    last_start_ns BIGINT NOT NULL -- start of the last of them
);

-- Device work that cannot have been as it is recorded, or whose launch is not in the capture, added up. Runs of an older prof do not have
-- it.
CREATE TABLE work_fault (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER, -- process; NULL when device work does not say whose it is
    device_id INTEGER NOT NULL, -- GPU
    kind VARCHAR NOT NULL, -- repeated-records, no-time, work-before-launch, work-after-wait, stream-overlap, stream-order,
        -- next-to-stream-order (the work before that of stream-order, as either may have the wrong time), work-without-launch or
        -- launched-before-capture; no fault is early-starts (a kernel that began before what its stream was given before had ended, as by
        -- programmatic dependent launch)
    range_context_id BIGINT, -- the set of ranges it was launched in; 0 outside every range, NULL when the launch is not captured
    path_id BIGINT, -- the path of names of these ranges; 0 and NULL likewise
    work_count BIGINT NOT NULL, -- kernels, copies and fills
    first_start_ns BIGINT NOT NULL, -- start of the first of them on the GPU
    last_start_ns BIGINT NOT NULL, -- start of the last of them
    sum_ns BIGINT NOT NULL -- sum of their durations; of early-starts the time until the work before had ended
);

-- Time at the beginning of a capture in which a GPU did work from before it: launched work waited, and nothing that the capture has ran on
-- any GPU. What spans it begins at its end, in device_time and range_device too, and it is no gap.
CREATE TABLE unseen_work (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    device_id INTEGER NOT NULL, -- GPU
    pid INTEGER NOT NULL, -- process whose work waited
    tid INTEGER NOT NULL, -- thread that launched it
    start_ns BIGINT NOT NULL, -- end of the work that is known from before
    duration_ns BIGINT NOT NULL, -- to the start of the work that waited
    range_context_id BIGINT NOT NULL, -- the set of ranges the launch of that work was made in; 0 outside every range
    path_id BIGINT NOT NULL -- the path of names of these ranges
);
