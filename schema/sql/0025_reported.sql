-- Figures that another tool computed of a run and wrote to a file: as it reported them, in base units. prof computes nothing from them.
CREATE TABLE reported_value (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: the file
    row_number INTEGER NOT NULL, -- 1, 2, ... in the order of the file
    scope VARCHAR NOT NULL, -- what it is about: run, stage, model, kernel or point (of a sweep)
    subject VARCHAR, -- the stage, the kernel, the point; NULL for the run and for the whole model
    metric VARCHAR NOT NULL, -- name of the figure: time_ns, tokens_per_s, mfu_ratio, flops, ...
    unit VARCHAR, -- ns, count, bytes, ratio, flop, mac (multiply-add), flop_per_s or tokens_per_s; NULL where the file does not say
    value DOUBLE, -- the figure, of several passes their mean; NULL where the file has null
    std DOUBLE, -- standard deviation over the passes as the tool computed it; NULL where the file has none
    call_count BIGINT -- calls that the figure sums; NULL where the file has none
);
COMMENT ON COLUMN source.kind IS 'what captured it: nsys, ncu, torch, ...; workload, model, capture and reported for facts of the run';
