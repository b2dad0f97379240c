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
    kind VARCHAR NOT NULL, -- what captured it: nsys
    form VARCHAR NOT NULL, -- file form: sqlite or parquetdir
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
    duration_ns BIGINT -- length of the capture
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
    device_id INTEGER NOT NULL, -- the machine's GPU number, as device_id elsewhere
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
    name VARCHAR -- name of the executable
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
