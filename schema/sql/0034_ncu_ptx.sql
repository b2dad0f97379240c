-- Instructions know the line of PTX that they come from: the text of the PTX is an ncu_source_file.
ALTER TABLE ncu_instruction ADD COLUMN ptx_file_id INTEGER;
ALTER TABLE ncu_instruction ADD COLUMN ptx_line INTEGER;
COMMENT ON COLUMN ncu_instruction.ptx_file_id IS 'text of the PTX, in ncu_source_file; NULL when the code was compiled without -lineinfo, or the run was stored before prof kept this';
COMMENT ON COLUMN ncu_instruction.ptx_line IS 'line in it: 1, 2, ...; NULL when not known';
COMMENT ON COLUMN ncu_source_file.name IS 'path, relative where it is below the program''s own folder; of PTX, which compiled code has in itself, the first 12 digits of sha256 and .ptx';
COMMENT ON COLUMN ncu_source_file.sha256 IS 'SHA-256 of the text as the report has it, in hexadecimal; NULL without a text';
COMMENT ON COLUMN ncu_source_file.text IS 'its text, secrets masked, where the report has it (ncu --import-source yes; of PTX, up to 8 MiB) and it is of the size that the compiler saw; else NULL';
