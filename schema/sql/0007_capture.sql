-- What prof itself did to capture a run: one row a run that `prof capture` made. From its run.json.
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
    duration_ns BIGINT, -- length of all passes together; NULL when prof was killed
    status VARCHAR NOT NULL, -- ok, partial (a pass failed or was stopped), failed (nothing was captured) or running (prof was killed)
    reason VARCHAR -- why the status is not ok
);

-- One pass of the workload: run once, under one tool or none.
CREATE TABLE capture_pass (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: run.json
    pass_id INTEGER NOT NULL, -- 1, 2, ... within the run, in the order in which they ran
    name VARCHAR NOT NULL, -- tool and number, e.g. nsys-2
    tool VARCHAR NOT NULL, -- none (baseline), nsys, ncu or torch
    mode VARCHAR NOT NULL, -- what the tool was to do, as overhead is told by it: baseline, light, deep, kernels, operators
    repeat_id INTEGER NOT NULL, -- 1, 2, ... among the passes of that tool
    command VARCHAR NOT NULL, -- command line that was run, secrets masked
    tool_version VARCHAR, -- version of the tool; NULL for none
    started_at TIMESTAMP NOT NULL, -- UTC start
    duration_ns BIGINT, -- start of the tool to its end, reports written; NULL when it did not end
    workload_ns BIGINT, -- start of the workload's process to its end; NULL when it did not start or end
    exit_code INTEGER, -- of the workload; NULL when it did not end by itself
    signal VARCHAR, -- that ended the workload, e.g. SIGKILL; NULL when none did
    status VARCHAR NOT NULL, -- ok, failed, timeout, too_large, interrupted, no_report, not_run or running (prof was killed)
    reason VARCHAR, -- why the status is not ok
    artifact_bytes BIGINT, -- size of what the pass left; NULL when it left nothing
    is_marked BOOLEAN NOT NULL, -- whether prof's helper marked stages in it
    clock_control VARCHAR -- of ncu: none or base; NULL for other tools
);

-- Which sources came out of which pass.
CREATE TABLE capture_source (
    run_id UUID NOT NULL, -- the run
    pass_id INTEGER NOT NULL, -- the pass
    captured_source_id INTEGER NOT NULL -- source_id of what it captured
);

-- Files that were given to the workload, by --input.
CREATE TABLE capture_input (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: run.json
    path VARCHAR NOT NULL, -- path as given, or below the folder that was given
    size_bytes BIGINT, -- its size; NULL when it could not be read
    sha256 VARCHAR -- SHA-256 of its content; NULL when it could not be read
);

-- GPUs of the machine as NVML told of them before the first pass.
CREATE TABLE capture_device (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: run.json
    device_id INTEGER NOT NULL, -- NVML's number of the GPU, as nvidia-smi shows it
    uuid VARCHAR NOT NULL, -- its UUID
    name VARCHAR, -- product name; columns that NVML did not tell are NULL
    bus_id VARCHAR, -- PCI address
    memory_bytes BIGINT, -- device memory
    power_limit_w DOUBLE, -- enforced power limit
    max_sm_clock_hz BIGINT, -- highest SM clock
    max_memory_clock_hz BIGINT, -- highest memory clock
    is_ecc BOOLEAN, -- whether memory is checked for errors
    is_mig BOOLEAN, -- whether it is split into instances (MIG)
    other_process_count BIGINT -- processes that computed on it before the first pass
);

-- What NVML told of a GPU while a pass ran, some ten times a second.
CREATE TABLE device_sample (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: run.json
    pass_id INTEGER NOT NULL, -- the pass
    device_id INTEGER NOT NULL, -- NVML's number of the GPU, as in capture_device
    time_ns BIGINT NOT NULL, -- when, from the start of the pass
    sm_ratio DOUBLE, -- share of the last period in which a kernel ran (0-1); columns that NVML did not tell are NULL
    memory_ratio DOUBLE, -- share of the last period in which memory was read or written (0-1)
    memory_used_bytes BIGINT, -- memory in use, by all processes
    sm_clock_hz BIGINT, -- SM clock
    memory_clock_hz BIGINT, -- memory clock
    power_w DOUBLE, -- power drawn
    temperature_c DOUBLE, -- temperature of the chip
    throttle_mask BIGINT, -- why clocks were held down: bits of NVML's nvmlClocksEventReasons
    other_process_count BIGINT -- processes that computed on it and are not the workload's
);

-- Mangled names of a run's kernels as the timeline tells them: what ncu can be asked for exactly.
CREATE TABLE kernel_symbol (
    run_id UUID NOT NULL, -- the run
    kernel_name_id BIGINT NOT NULL, -- the kernel name
    symbol VARCHAR NOT NULL -- a mangled name of it
);
