-- Time at the beginning of a capture in which a GPU did work from before it: launched work waited, and nothing that the capture has ran on any GPU.
-- What spans it begins at its end, in device_time and range_device too, and it is no gap.
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
