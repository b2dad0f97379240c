-- ncu-hotspots v1: Lines of source or PTX, or instructions, on which profiled kernels spend the most time, with what their warps wait for,
--     by Nsight Compute's samples.
-- grain: one line or instruction of one kernel
-- key: kernel, file, line, function, code_offset
-- notes: ncu lines
-- params:
--   run VARCHAR: the run
--   top BIGINT = 20: maximum rows; 0 for all
--   kernel VARCHAR = NULL: only kernels whose name contains this, ignoring case
--   launch BIGINT = NULL: only this launch
--   stage VARCHAR = NULL: only launches in this stage; (none) for launches outside every stage
--   by VARCHAR = NULL: group by line, ptx (line of PTX) or instruction; default: by line the code that has lines (compiled with -lineinfo),
--     and by instruction the rest
-- columns:
--   rank: rank by time_ns
--   kernel: kernel name as Nsight Compute spells it
--   file: source file; with ptx, name of the PTX, the same for the same text; NULL when compiled without -lineinfo
--   line: line in the file; inlined code has the line of the inlined function
--   code_offset: place of the instruction in its function, in bytes from its start; NULL for a line
--   opcode: operation of the instruction without its modifiers, as LDG; of a line, that with the most samples; NULL when not known: it is
--     for compute capabilities 7.5, 8.0, 8.6, 8.9, 9.0, 10.0, 10.3 and 12.0
--   code: text of the line, where the report has it (ncu --import-source yes; of PTX, up to 8 MiB)
--   time_ns: estimated time: the duration of each launch's replay times its share of the launch's samples, summed over launches
--   time_ratio: share of the estimated time of all profiled launches that were sampled and selected
--   share_ratio: share of the kernel's samples
--   stall: stall reason with the most samples; NULL when no sample is stalled
--   stall_ratio: share of this reason in the samples of the line or instruction
--   samples: samples of warps, of every state
--   launches: profiled launches of the kernel that this sums up
--   function: mangled name of the function that the instruction is in; NULL for a line

WITH r AS (
    SELECT
        row_number() OVER (
            ORDER BY x.time_ns DESC, x.samples DESC, x.kernel, x.file, x.line, x."function", x.code_offset
        ) AS rank,
        x.kernel,
        x.file,
        x.line,
        x."function",
        x.code_offset,
        x.opcode,
        x.time_ns,
        x.samples,
        x.kernel_samples,
        x.stall,
        x.stall_samples,
        x.launches,
        x.code
    FROM _ncu_line(run, kernel := kernel, launch := launch, stage := stage, "by" := "by") x
    WHERE x.samples > 0
), whole AS (
    SELECT sum(r.time_ns) AS time_ns
    FROM r
)
SELECT
    r.rank,
    r.kernel,
    r.file,
    r.line,
    r.code_offset,
    r.opcode,
    r.code,
    r.time_ns,
    r.time_ns / nullif(w.time_ns, 0) AS time_ratio,
    r.samples / nullif(r.kernel_samples, 0) AS share_ratio,
    r.stall,
    r.stall_samples / nullif(r.samples, 0) AS stall_ratio,
    r.samples,
    r.launches,
    r."function"
FROM r CROSS JOIN whole w
WHERE top = 0 OR r.rank <= top
ORDER BY r.rank
