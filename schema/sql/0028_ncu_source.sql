-- Functions of kernels of which Nsight Compute measured single instructions (metrics of its SourceCounters section, warp samples).
CREATE TABLE ncu_function (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: the report
    function_id INTEGER NOT NULL, -- 1, 2, ... within the source
    symbol VARCHAR -- mangled name; NULL when not said
);

-- Source files that instructions come from, as the compiler named them (-lineinfo).
CREATE TABLE ncu_source_file (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: the report
    file_id INTEGER NOT NULL, -- 1, 2, ... within the source
    name VARCHAR NOT NULL, -- path; relative where it is below the program's own folder
    sha256 VARCHAR, -- SHA-256 of the text in hexadecimal; NULL without a text
    text VARCHAR -- its text, secrets masked, where the report has it (ncu --import-source yes) and it is of the size that the compiler saw; else NULL
);

-- Instructions of which values are known, with the source line they come from. The report has the code itself in a form that only NVIDIA's tools can print in full.
CREATE TABLE ncu_instruction (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: the report
    function_id INTEGER NOT NULL, -- the function
    offset_bytes INTEGER NOT NULL, -- from the begin of the function
    file_id INTEGER, -- source file; NULL when the code was compiled without -lineinfo
    line INTEGER, -- line in it: 1, 2, ...; of inlined code, the line of the inlined function; NULL when not known
    opcode VARCHAR -- operation in the GPU's code without its modifiers, as LDG or HMMA; NULL when not known (it is for compute capability 9.0)
);

-- Value of one metric at one instruction of one result. Zeros are not stored: at an instruction without a row, a metric that the result has is 0 or does not apply.
CREATE TABLE ncu_instance (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: the report
    launch_id BIGINT NOT NULL, -- the result
    metric_id BIGINT NOT NULL, -- the metric
    function_id INTEGER NOT NULL, -- the function
    offset_bytes INTEGER NOT NULL, -- the instruction: its place in the function
    value DOUBLE NOT NULL -- the value, in the metric's base unit
);
