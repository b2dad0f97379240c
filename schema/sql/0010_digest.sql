-- What comparisons read: passes of stages and the device work of each, added up. Made from the tables before by the queries of the program
-- that ingested, and made anew whenever the rules, the peaks or those queries differ; nothing in here is known from elsewhere. Of a run whose
-- work was captured by Nsight Systems and by the PyTorch profiler they hold the first alone, as all sums do.

-- For which runs the tables below hold rows, and by what they were made.
CREATE TABLE digest (
    run_id UUID NOT NULL, -- the run
    checksum VARCHAR NOT NULL, -- of the rules, peaks and queries that its rows were made by
    basis VARCHAR NOT NULL -- of the rules and peaks alone
);

-- One pass of a stage, as the query stage-samples tells it.
CREATE TABLE stage_pass (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    range_id INTEGER NOT NULL, -- the range that is the pass
    stage VARCHAR NOT NULL, -- the stage, by stage_rule
    pass_id BIGINT NOT NULL, -- 1, 2, ... within the stage, source and process
    repeat_id BIGINT NOT NULL, -- 1, 2, ... the run of the workload that the source is of, where prof ran it several times; 1 otherwise
    pid INTEGER NOT NULL, -- process
    is_warmup BOOLEAN NOT NULL, -- whether stages leave it out
    start_ns BIGINT NOT NULL, -- start on the CPU, from the start of the source
    prompt_token_count BIGINT, -- tokens of all prompts; NULL when nothing says
    decode_token_count BIGINT, -- tokens of all sequences that were decoded; NULL when nothing says
    sequence_count BIGINT, -- sequences that were worked on; NULL when nothing says
    step_count BIGINT, -- forward passes that decode; NULL when nothing says
    cpu_ns BIGINT, -- time on the CPU; NULL when it never ended
    gpu_span_ns BIGINT, -- first start to last end of its device work; NULL when it has none
    gpu_busy_ns BIGINT, -- union of its device intervals, added up over GPUs
    gpu_sum_ns BIGINT, -- sum of the durations of its device work
    kernel_count BIGINT -- kernels
);

-- Device work of a pass of a stage, or of a source outside all of them, added up by what it is. Work that was launched in several passes at
-- once, as those of two threads may be, is that of the one that its path of ranges names, or else of the one that began first.
CREATE TABLE work_sum (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    range_id INTEGER NOT NULL, -- the pass, as in stage_pass; 0: outside every pass of a stage
    repeat_id BIGINT NOT NULL, -- as in stage_pass
    device_id INTEGER NOT NULL, -- GPU
    kind VARCHAR NOT NULL, -- kernel, copy (memop) or graph (a replay traced as a whole)
    kernel_name_id BIGINT, -- name of a kernel; NULL for copies and graphs
    operation VARCHAR, -- of a copy or fill, as in memop; NULL for kernels and graphs
    grid_x INTEGER, -- blocks in x; NULL for copies and graphs, and when the capture does not say
    grid_y INTEGER, -- blocks in y
    grid_z INTEGER, -- blocks in z
    block_x INTEGER, -- threads of a block in x
    block_y INTEGER, -- threads of a block in y
    block_z INTEGER, -- threads of a block in z
    launch_count BIGINT NOT NULL, -- executions
    sum_ns BIGINT NOT NULL, -- sum of their durations
    min_ns BIGINT NOT NULL, -- the shortest
    max_ns BIGINT NOT NULL, -- the longest
    deviation_ns2 DOUBLE NOT NULL -- sum of the squares of the differences between durations and their mean
);

-- Figures of a stage in a run that follow from a model or a rate: what trends show beside times. One that is not known has no row.
CREATE TABLE stage_figure (
    run_id UUID NOT NULL, -- the run
    stage VARCHAR NOT NULL, -- the stage, or one of those that mfu tells beside them: model, vision
    metric VARCHAR NOT NULL, -- mfu_ratio, mbu_ratio or tokens_per_s, each over all measured passes
    value DOUBLE NOT NULL -- in the unit that the metric's name says
);

-- What runs must have in common to be compared by their code alone, but for tags: hardware and its state, work, software, and how they were
-- captured.
CREATE TABLE run_condition (
    run_id UUID NOT NULL, -- the run
    aspect VARCHAR NOT NULL, -- what is told of: GPU, driver, prompt tokens, ...
    value VARCHAR NOT NULL, -- what is said of it, in text with its unit
    weight VARCHAR NOT NULL, -- how much it matters where it differs: decides, clouds or tells
    source_id INTEGER -- the source that says it; NULL when it follows from several, or from none
);

-- Names that a user gave to runs to compare others with.
CREATE TABLE baseline (
    run_id UUID NOT NULL, -- the run
    name VARCHAR NOT NULL, -- unique
    set_at TIMESTAMP NOT NULL -- UTC time when the name was given to it
);
