-- One collective or point-to-point call of a communication library with its arguments, where the capture holds them. Its kernel is known
-- either by the range of the library that launched it, or by itself: device_id, stream_id and kernel_start_ns as in kernel.
CREATE TABLE collective_call (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER, -- calling process; NULL when not known
    tid INTEGER, -- calling thread; NULL when not known
    start_ns BIGINT, -- start of the call; NULL when only its kernel is known
    duration_ns BIGINT, -- time in the call; NULL when only its kernel is known
    range_id INTEGER, -- range in which its kernel was launched: of the call, or of ncclGroupEnd for a call within a group; NULL when known by the kernel
    device_id INTEGER, -- GPU of its kernel; NULL when known by the range
    stream_id INTEGER, -- CUDA stream of its kernel; NULL when known by the range
    kernel_start_ns BIGINT, -- start of its kernel; NULL when known by the range
    operation VARCHAR NOT NULL, -- all-reduce, all-gather, reduce-scatter, all-to-all, broadcast, reduce, gather, scatter, send or recv; others as recorded
    in_bytes BIGINT, -- bytes that this rank gives; NULL when not known
    out_bytes BIGINT, -- bytes that this rank receives; NULL when not known
    dtype VARCHAR, -- type of the elements as recorded; NULL when not recorded
    group_name VARCHAR, -- communicator: the library's or PyTorch's name of it; NULL when not recorded
    group_ranks VARCHAR, -- ranks of the group in the job, as recorded; NULL when not recorded
    group_size INTEGER, -- ranks in the communicator; NULL when not known
    rank_id INTEGER -- this process's rank in the communicator; NULL when not known
);
