-- Where the time of a GPU went between the first start and the last end of a range's device work, cut into parts that exclude each other
-- and add up to it exactly. One row for each range on each GPU that it has work on, and one for all work of the source there. A GPU is idle
-- while no work of the source runs on it. Idle time is told by the thread that launches the next work to run there: what it did until that
-- launch had returned. Asking whether an event or a stream is done tells nothing: such calls are passed over.
CREATE TABLE device_time (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    device_id INTEGER NOT NULL, -- GPU
    range_id INTEGER, -- the range whose device work is meant; NULL: all device work of the source
    start_ns BIGINT NOT NULL, -- start of its first device work
    end_ns BIGINT NOT NULL, -- end of its last device work
    kernel_ns BIGINT NOT NULL, -- kernels of its own ran
    graph_ns BIGINT NOT NULL, -- graph replays of its own whose kernels were not traced ran, and no kernel of its own
    copy_ns BIGINT NOT NULL, -- copies and fills of its own ran, and neither of those
    other_ns BIGINT NOT NULL, -- only work of others ran
    launch_ns BIGINT NOT NULL, -- idle: inside an API call that launches work and takes less than 100 us, or launches a graph
    late_ns BIGINT NOT NULL, -- idle: between two CUDA calls less than 100 us apart, on the way to the next launch
    wait_ns BIGINT NOT NULL, -- idle: inside an API call that waits for the device, or copies work that is not the next
    call_ns BIGINT NOT NULL, -- idle: inside another CUDA call: memory, modules, streams; or one that launches and takes longer, as it loads code first
    host_ns BIGINT NOT NULL, -- idle: outside CUDA for 100 us or longer
    profiler_ns BIGINT NOT NULL, -- idle: the profiler was at work on that thread; 0 where a capture does not say on which, as Kineto
    queued_ns BIGINT NOT NULL, -- idle although that launch had returned: the device took its time, or waited for an event or another stream
    unknown_ns BIGINT NOT NULL, -- idle before work whose launch was not captured
    gap_count BIGINT NOT NULL -- idle gaps
);

-- Idle gaps of a GPU added up by what ran before and after and where the launch after was made.
CREATE TABLE gap_sum (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    device_id INTEGER NOT NULL, -- GPU
    path_id INTEGER, -- the path of names of the ranges that the next work was launched in; 0 outside every range, NULL when its launch was not captured
    before_kernel_name_id BIGINT, -- kernel that ended last before the gap; NULL when it was no kernel
    before_operation VARCHAR, -- copy, fill or "graph replay" that ended last before it; NULL when it was a kernel
    after_kernel_name_id BIGINT, -- kernel that began at its end; NULL when it was no kernel
    after_operation VARCHAR, -- copy, fill or "graph replay" that began at its end; NULL when it was a kernel
    gap_count BIGINT NOT NULL, -- gaps
    duration_ns BIGINT NOT NULL, -- their length
    max_ns BIGINT NOT NULL, -- the longest
    launch_ns BIGINT NOT NULL, -- their parts, as in device_time
    late_ns BIGINT NOT NULL, -- see device_time
    wait_ns BIGINT NOT NULL, -- see device_time
    call_ns BIGINT NOT NULL, -- see device_time
    host_ns BIGINT NOT NULL, -- see device_time
    profiler_ns BIGINT NOT NULL, -- see device_time
    queued_ns BIGINT NOT NULL, -- see device_time
    unknown_ns BIGINT NOT NULL -- see device_time
);

-- The longest idle gaps of each GPU of a source, at most 10,000 of each.
CREATE TABLE gap (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    device_id INTEGER NOT NULL, -- GPU
    start_ns BIGINT NOT NULL, -- end of the work before
    duration_ns BIGINT NOT NULL, -- to the start of the work after
    pid INTEGER, -- process that launched the work after; NULL when its launch was not captured
    tid INTEGER, -- thread that launched it
    range_context_id INTEGER, -- the set of ranges the launch was made in
    path_id INTEGER, -- the path of names of these ranges; 0 outside every range
    before_kernel_name_id BIGINT, -- kernel that ended last before the gap; NULL when it was no kernel
    before_operation VARCHAR, -- copy, fill or "graph replay" that ended last before it; NULL when it was a kernel
    after_kernel_name_id BIGINT, -- kernel that began at its end; NULL when it was no kernel
    after_operation VARCHAR, -- copy, fill or "graph replay" that began at its end; NULL when it was a kernel
    launch_ns BIGINT NOT NULL, -- its parts, as in device_time
    late_ns BIGINT NOT NULL, -- see device_time
    wait_ns BIGINT NOT NULL, -- see device_time
    call_ns BIGINT NOT NULL, -- see device_time
    host_ns BIGINT NOT NULL, -- see device_time
    profiler_ns BIGINT NOT NULL, -- see device_time
    queued_ns BIGINT NOT NULL, -- see device_time
    unknown_ns BIGINT NOT NULL -- see device_time
);
