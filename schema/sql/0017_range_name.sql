-- Names of ranges are kept as far as 65,536 bytes: Nsight Systems records 65,000 at most, and DuckDB reads the names of 2,048 rows at once.
COMMENT ON COLUMN nvtx_range.name IS 'name as recorded, of a longer one the first 65,536 bytes';
COMMENT ON COLUMN nvtx_mark.name IS 'name as recorded, of a longer one the first 65,536 bytes';
COMMENT ON COLUMN range_path.path IS 'the names joined by '' > '', of a longer text the first 65,536 bytes';
COMMENT ON COLUMN ncu_range.name IS 'name as recorded, of a longer one the first 65,536 bytes';
