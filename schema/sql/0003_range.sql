-- One NVTX range of a thread (push/pop) or of a process (start/end).
CREATE TABLE nvtx_range (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    range_id INTEGER NOT NULL, -- 1, 2, ... within the run
    parent_range_id INTEGER, -- innermost range open on its thread when it began, in any domain; NULL when none
    path_id INTEGER NOT NULL, -- path of names from the outermost open range to this one
    pid INTEGER NOT NULL, -- process
    tid INTEGER NOT NULL, -- thread that began it
    end_tid INTEGER, -- thread that ended a start/end range, when it is another one
    style VARCHAR NOT NULL, -- push_pop or start_end
    domain VARCHAR NOT NULL, -- NVTX domain; empty for the default one
    name VARCHAR NOT NULL, -- name as recorded
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
    name VARCHAR NOT NULL, -- name as recorded
    time_ns BIGINT NOT NULL -- when
);

-- Distinct paths of nested range names, names normalised (ids and counters become #).
CREATE TABLE range_path (
    run_id UUID NOT NULL, -- the run
    path_id INTEGER NOT NULL, -- 1, 2, ... within the run
    depth INTEGER NOT NULL, -- 1 for an outermost range
    domain VARCHAR NOT NULL, -- NVTX domain of the innermost range
    name VARCHAR NOT NULL, -- normalised name of the innermost range
    lineage INTEGER[] NOT NULL, -- path_id of each prefix, outermost first, this path last
    path VARCHAR NOT NULL -- the names joined by ' > '
);

-- Which ranges enclose a launch: one row per context and enclosing range.
CREATE TABLE range_context (
    run_id UUID NOT NULL, -- the run
    range_context_id INTEGER NOT NULL, -- as in kernel, memop, api_call, ...; context 0 (no range) has no rows
    range_id INTEGER NOT NULL, -- an enclosing range
    path_id INTEGER NOT NULL, -- path of the context: its enclosing ranges' names, outermost first
    is_innermost BOOLEAN NOT NULL -- whether it is the innermost one
);

-- Device work launched inside a range, nested ranges included, per device.
CREATE TABLE range_device (
    run_id UUID NOT NULL, -- the run
    range_id INTEGER NOT NULL, -- the range
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
    path_id INTEGER NOT NULL, -- the path
    stage VARCHAR, -- stage of the outermost range of the path that a stage rule matches; NULL when none
    stage_path_id INTEGER, -- path that ends with that range: a range with this path is a pass of the stage
    note VARCHAR, -- note of the innermost range that a note rule matches (vision parts); NULL when none
    note_path_id INTEGER, -- path that ends with that range
    is_warmup BOOLEAN NOT NULL -- whether a warm-up rule matches any range of the path
);
