-- How long each execution of a stage took by the clocks of prof's helper, with and without a profiler: one row an execution of a range that may
-- be a stage. It lies in the files that run.json names as stage_times.
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
    gpu_ns BIGINT -- CUDA events, from opening the range, or the end of the work queued before it, to the end of its own work, the longest GPU; NULL where PyTorch uses no GPU, and when not measured
);
