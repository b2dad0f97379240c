-- Launches without device work in the capture. Calls that failed, and those that a stream capture recorded into a graph, are none. Runs of an older prof do not have it.
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

-- Device work that cannot have been as it is recorded, or whose launch is not in the capture, added up. Runs of an older prof do not have it.
CREATE TABLE work_fault (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER, -- process; NULL when device work does not say whose it is
    device_id INTEGER NOT NULL, -- GPU
    kind VARCHAR NOT NULL, -- repeated-records, no-time, work-before-launch, work-after-wait, stream-overlap, stream-order, next-to-stream-order (the work before that of stream-order, as either may have the wrong time), work-without-launch or launched-before-capture
    range_context_id BIGINT, -- the set of ranges it was launched in; 0 outside every range, NULL when the launch is not captured
    path_id BIGINT, -- the path of names of these ranges; 0 and NULL likewise
    work_count BIGINT NOT NULL, -- kernels, copies and fills
    first_start_ns BIGINT NOT NULL, -- start of the first of them on the GPU
    last_start_ns BIGINT NOT NULL, -- start of the last of them
    sum_ns BIGINT NOT NULL -- sum of their durations
);

-- Kernels in the bodies of conditional nodes run as often as the condition says, others once a replay. Runs of an older prof do not have it.
ALTER TABLE graph_launch ADD COLUMN body_count BIGINT;
COMMENT ON COLUMN graph_launch.body_count IS 'kernels of this replay in bodies of conditional nodes; NULL in graph mode, and when not known';

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
