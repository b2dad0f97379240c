-- memory-peaks v1: Peak GPU memory of each stage and of whole recordings, on each basis that knows it: PyTorch's allocator, NVML, Nsight
--     Systems' record of CUDA allocations. Warm-up and cold passes are included.
-- grain: one stage, or the whole recording, on one basis in one recording, process and GPU
-- key: stage, basis, pass, source_id, pid, device
-- params:
--   run VARCHAR: the run
--   stage VARCHAR = NULL: only this stage
--   basis VARCHAR = NULL: only this basis
-- columns:
--   stage: the stage; (all) for the whole recording
--   basis: torch allocated (given out by PyTorch's allocator), torch reserved (held by it: what others cannot have), nvml used (all
--     processes, with contexts and libraries), or what the process got from CUDA, by kind of memory: nsys device, nsys managed, nsys
--     pinned, ... Bases differ by what they count: never add or compare them
--   pass: the recording, e.g. baseline-1; NULL for a timeline that prof capture did not make
--   device: GPU: as in devices for a timeline, as PyTorch counts where source_id is NULL, as NVML counts for nvml used
--   peak_bytes: highest amount; for nvml used, the highest sample. NULL when only bounds are known: PyTorch's own peak is not reset between
--     passes, so one that does not raise it is known only to lie below; --torch-memory records each allocation
--   least_bytes: amount that it reached
--   most_bytes: amount that it did not exceed; NULL when unknown
--   passes: passes of the stage with a figure; NULL for the whole recording
--   samples: NVML samples in them, about ten per second; NULL for others
--   pid: process; NULL for nvml used, which counts all
--   source_id: timeline that it is of; NULL for others

SELECT
    coalesce(m.stage, '(all)') AS stage,
    m.basis,
    p.name AS pass,
    m.device_id AS device,
    m.peak_bytes,
    m.least_bytes,
    m.most_bytes,
    m.pass_count AS passes,
    m.sample_count AS samples,
    m.pid,
    m.source_id
FROM stage_memory m LEFT JOIN capture_pass p ON p.run_id = run AND p.pass_id = m.pass_id
WHERE m.run_id = run AND (stage IS NULL OR coalesce(m.stage, '(all)') = stage) AND (basis IS NULL OR m.basis = basis)
ORDER BY m.stage IS NOT NULL, array_position(['prefill', 'decode'], m.stage) NULLS LAST, m.stage, m.basis,
    m.pass_id NULLS LAST, m.source_id NULLS FIRST, m.device_id, m.pid
