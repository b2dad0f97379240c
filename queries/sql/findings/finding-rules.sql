-- finding-rules v1: The rules that findings are made by: what each looks for, how much of that could be saved, and what to do about it.
-- grain: one rule
-- key: finding
-- columns:
--   finding: name of the rule
--   title: what it finds
--   bound: what its saving is: at most (more cannot be gained by it) or about (an estimate)
--   saving: how the saving is computed
--   advice: what to do
--   value: number that it is tried by, see saving; NULL when it has none
--   unit: unit of that number
--   subject: what its subject is: kernel, family, function or ranges; NULL when it has none. Of kernels each is a finding
--   query: query that shows the evidence
--   options: options of that query that a finding fills in: stage, device, kernel, source; top: all its rows; by: by family
--   detail: query that shows more, with the options stage, device and source; slow-ranks has but the last, and is of runs with several ranks; NULL when there is none
--   needs: what the run must hold
--   reference: where the rule is from

SELECT r.finding, r.title, r.bound, r.saving, r.advice, r.value::DOUBLE AS value, r.unit, r.subject, r.query, r.options, r.detail, r.needs, r.reference
FROM (VALUES
    ('launch-bound', 'GPU idle for want of launches', 'at most', 'idle time inside launching calls and between calls on the way to the next launch, where graphs do not launch most of the work (graph-gaps)',
        'replay the work as a CUDA graph (torch.cuda.CUDAGraph, torch.compile with mode="reduce-overhead", the graph mode of an engine), or launch fewer and larger kernels', NULL, NULL, NULL, 'pass-accounting', 'stage device source', 'gaps', 'timeline',
        'https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-graphs'),
    ('graph-gaps', 'GPU idle between graph replays', 'at most', 'as launch-bound, where graphs launch more than this share of the work, by time',
        'make one graph of a step instead of piecewise ones, launch the next replay before the last has ended, and prepare its inputs meanwhile (asynchronous scheduling)', 0.5, 'ratio', NULL, 'pass-accounting', 'stage device source', 'gaps', 'timeline',
        'https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-graphs'),
    ('host-waits', 'GPU idle while the host waits for it', 'at most', 'idle time inside calls that wait for the device, or copy what is not the next work',
        'take waits out of the pass: no .item(), .cpu(), .tolist() or print of device values in it; keep results on the device and read them after the pass; copy to pinned memory with non_blocking=True', NULL, NULL, NULL, 'pass-accounting', 'stage device source', 'gaps', 'timeline',
        'https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization'),
    ('cuda-calls', 'GPU idle during CUDA calls for memory, code or streams', 'at most', 'idle time inside CUDA calls that neither launch nor wait, or launch for 100 us and longer: these load code first',
        'allocate and load before the pass: warm up every shape, keep buffers, take memory from a pool (PyTorch''s allocator, cudaMallocAsync)', NULL, NULL, 'function', 'pass-accounting', 'stage device source', 'api-calls', 'timeline',
        'https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/#allocation'),
    ('host-bound', 'GPU idle while the host is at something else', 'at most', 'idle time in which the launching thread made no CUDA call for 100 us and longer',
        'move work of the CPU (tokenising, sampling, Python) out of the pass or onto another thread, and prepare the next step while the GPU computes', NULL, NULL, 'ranges', 'pass-accounting', 'stage device source', 'gaps', 'timeline',
        'https://docs.nvidia.com/nsight-systems/UserGuide/'),
    ('device-latency', 'GPU idle between kernels that were launched in time', 'at most', 'idle time after the launch had returned: start-up of a kernel, and waits for events and other streams',
        'launch fewer and larger kernels (fusion), overlap the start of one with the end of another (programmatic dependent launch), and wait for events only where data needs it', NULL, NULL, NULL, 'pass-accounting', 'stage device source', 'gaps', 'timeline',
        'https://docs.nvidia.com/cuda/cuda-c-programming-guide/#programmatic-dependent-launch-and-synchronization'),
    ('elementwise-chains', 'Short elementwise kernels one after the other', 'about', 'time of kernels of the roles elementwise, activation and copy under this length that follow another such on their stream: all of a chain but its first',
        'fuse them: torch.compile, a fused operator (norm with residual, activation with gate, rotary embedding), or a kernel of your own', 5000, 'ns', 'family', 'top-kernels', 'stage device source by', NULL, 'timeline',
        'https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#fuse-operations'),
    ('small-grids', 'Kernels with fewer blocks than SMs', 'at most', 'time x (1 - blocks / SMs) of kernels that take this long and longer on the mean, collectives apart; the time of kernels that ran side by side counts once',
        'give the kernel more blocks (split-K, split-KV, larger batch), or run it beside others on another stream', 5000, 'ns', 'kernel', 'kernel-grids', 'stage device source top', NULL, 'timeline with grids, SMs of the device',
        'https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/#thread-and-block-heuristics'),
    ('wave-tail', 'Last wave of blocks partly filled', 'about', 'time x (1 - blocks / (waves x blocks that fit)) of kernels of more than one wave and at most this many, as long as those of small-grids; blocks that fit by registers, shared memory and threads',
        'choose tile sizes or a split so that blocks fill whole waves, or a persistent kernel (stream-K)', 4, 'waves', 'kernel', 'kernel-grids', 'stage device source top', NULL, 'timeline with grids, limits of the device',
        'https://docs.nvidia.com/deeplearning/performance/dl-performance-gpu-background/index.html#gpu-execution'),
    ('below-roof', 'Kernels far below their roof', 'at most', 'time x (1 - the higher of compute and memory throughput of their peaks), where that is below this; time at the grids that were profiled',
        'see what limits it (bottlenecks, ncu-rules): another algorithm or library kernel, other tile sizes, more work a launch', 0.6, 'ratio', 'kernel', 'bottlenecks', 'kernel source', NULL, 'kernels profiled by Nsight Compute',
        'https://docs.nvidia.com/nsight-compute/ProfilingGuide/#roofline-charts'),
    ('low-occupancy', 'Kernels held back by occupancy', 'at most', 'as below-roof, of latency-bound kernels that do not run on tensor cores and whose achieved occupancy is below this',
        'use fewer registers or less shared memory a block, or another block size', 0.5, 'ratio', 'kernel', 'bottlenecks', 'kernel source', NULL, 'kernels profiled by Nsight Compute',
        'https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/#occupancy'),
    ('pageable-copies', 'Copies to the GPU from pageable memory', 'at most', 'time of copies from pageable host memory to the device, not more than that in which no kernel ran; where this share of the passes and more has such copies',
        'copy from pinned memory (pin_memory, cudaHostAlloc) with non_blocking=True, once and before the pass; keep on the device what does not change', 0.5, 'ratio', NULL, 'memops', 'stage device source', NULL, 'timeline with kinds of memory',
        'https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/#pinned-memory'),
    ('exposed-collectives', 'Collectives that no computing overlaps', 'at most', 'time in which collectives ran on the GPU and no other kernel of the pass; waiting for slower ranks is in it',
        'overlap them with computing on another stream, split the work so that one part computes while another communicates, balance the ranks where one is late (slow-ranks), or use a faster collective', NULL, NULL, NULL, 'collectives', 'stage device source', 'slow-ranks', 'timeline',
        'https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/usage/streams.html'),
    ('throttling', 'Clocks held down for want of power or cooling', 'at most', 'time of work x share of samples in which the clock was held down x (1 - clock in them / highest clock)',
        'see prof query throttling: raise the power limit, improve cooling, or compare runs at locked clocks (nvidia-smi -lgc)', NULL, NULL, NULL, 'throttling', '', NULL, 'samples of prof capture',
        'https://docs.nvidia.com/deploy/nvml-api/group__nvmlClocksEventReasons.html')
) r(finding, title, bound, saving, advice, value, unit, subject, query, options, detail, needs, reference)
ORDER BY r.finding
