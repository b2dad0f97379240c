-- The rules that findings are made by: what each looks for, how much of that could be saved, and what to do about it. Made by prof, and
-- findings are derived again whenever a number here differs.
CREATE TABLE finding_rule (
    finding_id VARCHAR NOT NULL, -- name of the rule
    title VARCHAR NOT NULL, -- what it finds
    bound VARCHAR NOT NULL, -- what its saving is: at most (more cannot be gained by it) or about (an estimate)
    saving VARCHAR NOT NULL, -- how the saving is computed
    advice VARCHAR NOT NULL, -- what to do
    value DOUBLE, -- number that it is tried by, see saving; NULL when it has none
    unit VARCHAR, -- unit of that number
    subject VARCHAR, -- what its subject is: kernel, family, function, ranges or operation; NULL when it has none. Of kernels each is a finding
    query VARCHAR NOT NULL, -- query that shows the evidence
    options VARCHAR, -- options of that query that a finding fills in: stage, device, kernel, source; top: all its rows; by: by family; NULL when none
    detail VARCHAR, -- query that shows more, with the options stage, device and source; slow-ranks has but the last, and is of runs with several ranks; NULL when there is none
    needs VARCHAR NOT NULL, -- what the run must hold
    reference VARCHAR NOT NULL -- where the rule is from
);
