-- Launches that a stream capture recorded into a CUDA graph: nothing ran then, the graph's replays run it. From traces of the PyTorch profiler.
CREATE TABLE captured_launch (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    capture_number INTEGER NOT NULL, -- the stream capture: 1, 2, ... within the source, in the order of their starts
    launch_number INTEGER NOT NULL, -- 1, 2, ... within the capture, in the order of the calls
    is_forked BOOLEAN NOT NULL, -- whether a stream waited for an event meanwhile, so that the graph may have branches
    ended_ns BIGINT NOT NULL, -- when the stream capture ended
    pid INTEGER NOT NULL, -- calling process
    tid INTEGER NOT NULL, -- calling thread
    start_ns BIGINT NOT NULL, -- start of the call
    api_name_id BIGINT NOT NULL, -- function
    kind VARCHAR NOT NULL, -- what it launched: kernel, copy or fill, or graph for a graph in the graph
    kernel_name_id BIGINT, -- name of the kernel; NULL when not recorded, which it is on AMD's GPUs only
    op_id BIGINT, -- innermost operator around the call; 0 outside every operator, NULL when operators were not recorded
    stack_id BIGINT -- Python functions around the call, as in python_stack; 0 outside every one, NULL when stacks were not recorded
);
