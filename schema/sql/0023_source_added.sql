-- When each source of a run came, and what it said of itself, so that a run can grow and lose sources again. Sections of Nsight Compute are those of a source.
ALTER TABLE source ADD COLUMN added_at TIMESTAMP;
COMMENT ON COLUMN source.added_at IS 'UTC time at which it was stored; NULL when an older prof stored it, with the run or later';
ALTER TABLE source ADD COLUMN command VARCHAR;
COMMENT ON COLUMN source.command IS 'the profiled command line, secrets masked; NULL when the source does not say, and from an older prof';
ALTER TABLE source ADD COLUMN host VARCHAR;
COMMENT ON COLUMN source.host IS 'machine it was captured on; NULL when the source does not say, and from an older prof';
ALTER TABLE ncu_section ADD COLUMN source_id INTEGER;
COMMENT ON COLUMN ncu_section.source_id IS 'the source; NULL from an older prof, which stored each section once a run';
