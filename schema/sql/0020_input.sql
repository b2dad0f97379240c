-- Inputs with an identity: those of a manifest have an id, which the passes name that worked on them. Tags of inputs are rows.
ALTER TABLE capture_input ADD COLUMN input VARCHAR;
ALTER TABLE capture_input ADD COLUMN width_count BIGINT;
ALTER TABLE capture_input ADD COLUMN height_count BIGINT;
ALTER TABLE capture_input ADD COLUMN page_count BIGINT;
ALTER TABLE capture_input ADD COLUMN token_count BIGINT;
COMMENT ON TABLE capture_input IS 'Files that were given to the workload, by --input and --inputs.';
COMMENT ON COLUMN capture_input.path IS 'path as given, or below the folder that was given; of a manifest''s input where the file lies';
COMMENT ON COLUMN capture_input.input IS 'id of an input of the manifest, each once in a run; NULL by --input';
COMMENT ON COLUMN capture_input.width_count IS 'width in pixels; this and the next three are what the manifest says, NULL where it does not';
COMMENT ON COLUMN capture_input.height_count IS 'height in pixels';
COMMENT ON COLUMN capture_input.page_count IS 'pages';
COMMENT ON COLUMN capture_input.token_count IS 'tokens';

-- Tags of the inputs of a manifest.
CREATE TABLE capture_input_tag (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source: run.json
    input VARCHAR NOT NULL, -- id of the input
    key VARCHAR NOT NULL, -- key of the tag, once an input
    value VARCHAR NOT NULL -- its value
);

ALTER TABLE workload_pass ADD COLUMN input VARCHAR;
COMMENT ON COLUMN workload_pass.input IS 'input that it worked on, as the workload says; NULL when not said';
ALTER TABLE stage_execution ADD COLUMN input VARCHAR;
COMMENT ON COLUMN stage_execution.input IS 'input that it worked on, as the workload says; NULL when not said';
ALTER TABLE capture ADD COLUMN options_key VARCHAR;
COMMENT ON COLUMN capture.options_key IS 'hash of the options and of the inputs'' content: captures with the same one and the same workload_key are the same; NULL from an older prof';
