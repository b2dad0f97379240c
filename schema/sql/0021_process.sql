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
