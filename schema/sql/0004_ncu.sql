-- One result of Nsight Compute: a kernel launch, a range, a CUDA graph or a command list that was profiled on its own, by
-- replaying it. Its times are replayed ones and never add up with those of the timeline.
CREATE TABLE ncu_launch (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    launch_id INTEGER NOT NULL, -- 0, 1, ... within the run; where the run has one report, ncu's own ID
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
    path_id INTEGER -- path of names of its NVTX ranges; 0 outside every range, NULL when ranges were not captured
);

-- NVTX ranges that were open when a result's work was launched. For a range result, its last one is the range itself.
CREATE TABLE ncu_range (
    run_id UUID NOT NULL, -- the run
    launch_id INTEGER NOT NULL, -- the result
    depth INTEGER NOT NULL, -- 1 for the outermost range
    path_id INTEGER NOT NULL, -- path of names that ends with it
    style VARCHAR NOT NULL, -- push_pop or start_end
    domain VARCHAR NOT NULL, -- NVTX domain; empty for the default one
    name VARCHAR NOT NULL -- name as recorded
);

-- Names of the metrics of a run.
CREATE TABLE ncu_metric_name (
    run_id UUID NOT NULL, -- the run
    metric_id INTEGER NOT NULL, -- 1, 2, ... within the run
    name VARCHAR NOT NULL, -- ncu's name of it, e.g. dram__bytes_read.sum
    unit VARCHAR -- ncu's base unit of its values, e.g. ns, byte, byte/s, hz, % (0-100), inst; empty for a plain number, NULL when unknown
);

-- Value of one metric of one result, in the metric's base unit.
CREATE TABLE ncu_metric (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source it was read from
    launch_id INTEGER NOT NULL, -- the result
    metric_id INTEGER NOT NULL, -- the metric
    value DOUBLE, -- its value; NULL for a text
    text VARCHAR -- its value when that is a text, or a whole number that a DOUBLE does not hold exactly
);

-- Where ncu shows which metric: the sections of its reports.
CREATE TABLE ncu_section (
    run_id UUID NOT NULL, -- the run
    section VARCHAR NOT NULL, -- identifier, e.g. SpeedOfLight
    title VARCHAR NOT NULL, -- display name, e.g. GPU Speed Of Light Throughput
    position INTEGER NOT NULL, -- place of the metric in the section: 1, 2, ...
    metric_id INTEGER NOT NULL, -- the metric
    label VARCHAR NOT NULL -- what ncu calls the metric there, e.g. Compute (SM) Throughput
);

-- What ncu's own rules found about a result.
CREATE TABLE ncu_rule (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    launch_id INTEGER NOT NULL, -- the result
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
    launch_id INTEGER NOT NULL, -- the result
    finding_id INTEGER NOT NULL, -- the finding
    metric VARCHAR NOT NULL, -- name of the metric
    value DOUBLE, -- its value
    advice VARCHAR -- what to do about it; NULL when not said
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
    resource VARCHAR NOT NULL, -- precision of the inputs: fp64, fp32, tf32, bf16, fp16, fp8, fp4, int8 (with tensor_ before it where tensor cores do it); or dram
    accumulate VARCHAR NOT NULL, -- precision of the sums: fp64, fp32, fp16, int32; empty for dram
    flop_per_s DOUBLE, -- dense operations a second, a multiply-add being 2; NULL for dram
    bytes_per_s DOUBLE, -- bytes a second; NULL unless dram
    doc VARCHAR NOT NULL, -- clock or variant it holds for
    reference VARCHAR NOT NULL, -- where the figure is from
    checked_on DATE NOT NULL -- when it was read there
);
