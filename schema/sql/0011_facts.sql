-- By which definitions and rules the facts of a run were derived: the tables that are code, made anew where they differ.
CREATE TABLE derivation (
    run_id UUID NOT NULL, -- the run
    checksum VARCHAR NOT NULL -- of the definitions of facts and of the rules
);

-- They are facts now.
DROP TABLE digest;
DROP TABLE stage_pass;
DROP TABLE work_sum;
DROP TABLE stage_figure;
DROP TABLE run_condition;
