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
ALTER TABLE workload_pass ADD COLUMN process_id INTEGER;
COMMENT ON COLUMN workload_pass.process_id IS 'process that ran it, as in workload_process; NULL: every process';

-- What PyTorch's allocator had given out and reserved on a GPU around an execution of stage_execution. Peaks are those since the process began, or since it last
-- reset them: where one is higher after the execution than before, the execution reached it.
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
