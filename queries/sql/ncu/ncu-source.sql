-- ncu-source v1: What Nsight Compute measured at each line of source or PTX, or instruction, of a kernel: samples, stalls, executions,
--     memory accesses.
-- grain: one line or instruction of one kernel
-- key: kernel, file, line, function, code_offset
-- notes: ncu lines
-- params:
--   run VARCHAR: the run
--   kernel VARCHAR = NULL: only kernels whose name contains this, ignoring case
--   launch BIGINT = NULL: only this launch; default: sums over all launches of a kernel
--   stage VARCHAR = NULL: only launches in this stage; (none) for launches outside every stage
--   by VARCHAR = NULL: group by line, ptx (line of PTX) or instruction; default: by line the code that has lines (compiled with -lineinfo),
--     and by instruction the rest
--   top BIGINT = 0: maximum rows, those with the most samples; 0 for all
-- columns:
--   kernel: kernel name as Nsight Compute spells it
--   file: source file; with ptx, name of the PTX, the same for the same text; NULL when compiled without -lineinfo
--   line: line in the file; inlined code has the line of the inlined function
--   code_offset: place of the instruction in its function, in bytes from its start; NULL for a line
--   opcode: operation of the instruction without its modifiers, as LDG; of a line, that with the most samples; NULL when not known: it is
--     for compute capabilities 7.5, 8.0, 8.6, 8.9, 9.0, 10.0, 10.3 and 12.0
--   samples: samples of warps, of every state; NULL when not sampled
--   share_ratio: share of the kernel's samples
--   stall: stall reason with the most samples; NULL when no sample is stalled
--   stall_ratio: share of this reason in the samples of the line or instruction
--   instruction_count: instructions in the GPU's code
--   executed_count: instructions executed, by warp; NULL, like what follows, when not collected
--   active_threads: mean threads of a warp (of 32) that an executed instruction runs in, those that its predicate disables excluded
--   divergent_branch_count: executed branches on which the threads of a warp took both ways
--   global_sector_count: sectors of 32 bytes that accesses to global memory ask of L2
--   global_sector_ideal_count: sectors that the same bytes need at least
--   shared_wavefront_count: passes that accesses to shared memory take
--   shared_wavefront_ideal_count: passes they take without bank conflicts
--   launches: profiled launches of the kernel that this sums up
--   function: mangled name of the function that the instruction is in; NULL for a line
--   code: text of the line, where the report has it (ncu --import-source yes; of PTX, up to 8 MiB)

WITH r AS (
    SELECT
        row_number() OVER (
            ORDER BY x.samples DESC NULLS LAST, x.executed_count DESC NULLS LAST, x.kernel, x.file, x.line,
                x."function", x.code_offset
        ) AS place,
        x.kernel,
        x.file,
        x.line,
        x."function",
        x.code_offset,
        x.opcode,
        x.samples,
        x.kernel_samples,
        x.stall,
        x.stall_samples,
        x.instruction_count,
        x.executed_count,
        x.true_thread_count,
        x.divergent_branch_count,
        x.global_sector_count,
        x.global_sector_ideal_count,
        x.shared_wavefront_count,
        x.shared_wavefront_ideal_count,
        x.launches,
        x.code
    FROM _ncu_line(run, kernel := kernel, launch := launch, stage := stage, "by" := "by") x
)
SELECT
    r.kernel,
    r.file,
    r.line,
    r.code_offset,
    r.opcode,
    r.samples,
    r.samples / nullif(r.kernel_samples, 0) AS share_ratio,
    r.stall,
    r.stall_samples / nullif(r.samples, 0) AS stall_ratio,
    r.instruction_count,
    r.executed_count,
    r.true_thread_count / nullif(r.executed_count, 0) AS active_threads,
    r.divergent_branch_count,
    r.global_sector_count,
    r.global_sector_ideal_count,
    r.shared_wavefront_count,
    r.shared_wavefront_ideal_count,
    r.launches,
    r."function",
    r.code
FROM r
WHERE top = 0 OR r.place <= top
ORDER BY r.kernel, r.file, r.line, r."function", r.code_offset
