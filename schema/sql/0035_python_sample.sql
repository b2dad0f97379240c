-- What threads with Python were in when Nsight Systems took samples of them (--python-sampling).
CREATE TABLE python_sample (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER NOT NULL, -- process
    tid INTEGER NOT NULL, -- thread
    time_ns BIGINT NOT NULL, -- when
    stack_id BIGINT, -- Python functions the thread was in, as in python_stack; 0 outside every one, NULL when what the sample says cannot be read
    path_id BIGINT NOT NULL -- the path of names of the ranges open on the thread; 0 outside every range
);
