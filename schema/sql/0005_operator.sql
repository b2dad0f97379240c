-- Names of the operators of a run.
CREATE TABLE op_name (
    run_id UUID NOT NULL, -- the run
    op_name_id BIGINT NOT NULL, -- first 8 bytes of SHA-256 of name, big-endian, signed
    name VARCHAR NOT NULL -- operator as PyTorch names it, e.g. aten::mm
);

-- Distinct inputs that operators were called with; only where shapes were recorded (record_shapes). Each text is JSON with an entry for each input.
CREATE TABLE op_input (
    run_id UUID NOT NULL, -- the run
    op_input_id BIGINT NOT NULL, -- first 8 bytes of SHA-256 of the four texts, big-endian, signed
    shapes VARCHAR, -- sizes of each tensor, e.g. [[1, 512], [512, 64], []]
    types VARCHAR, -- type of each input, e.g. ["c10::BFloat16", "c10::BFloat16", "Scalar"]; NULL when not recorded
    strides VARCHAR, -- strides of each tensor; NULL when not recorded
    concrete VARCHAR -- value of each input that is no tensor; NULL when not recorded
);

-- One call of an operator on the CPU: by the PyTorch profiler, or an NVTX range of torch.autograd.profiler.emit_nvtx. Device
-- times are those of the kernels, copies and fills it launched.
CREATE TABLE op (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    op_id INTEGER NOT NULL, -- 1, 2, ... within the run
    parent_op_id INTEGER, -- the operator that called it: innermost one open on its thread when it began; NULL for an outermost one
    forward_op_id INTEGER, -- the forward operator whose gradient this one computes; NULL when none is known
    depth INTEGER NOT NULL, -- 1 for an outermost operator
    pid INTEGER NOT NULL, -- calling process
    tid INTEGER NOT NULL, -- calling thread
    op_name_id BIGINT NOT NULL, -- name
    op_input_id BIGINT, -- inputs; NULL when not recorded
    stack_id INTEGER, -- Python functions it was called in; NULL when not recorded
    sequence_id BIGINT, -- autograd's sequence number, the same in a forward operator and its backward; NULL when none
    is_folded BOOLEAN NOT NULL, -- an operator of the same name did nothing but call it: PyTorch's key_averages counts the two as one call
    is_nested BOOLEAN NOT NULL, -- an operator of the same name is open around it, so that its total is part of that one's
    start_ns BIGINT NOT NULL, -- start of the call
    duration_ns BIGINT NOT NULL, -- time in the call
    self_cpu_ns BIGINT NOT NULL, -- time in the call less that in the operators and CUDA API calls directly inside it
    self_device_ns BIGINT, -- sum of the durations of the device work launched by it but not by an operator inside it; NULL when the source holds no device work at all
    total_device_ns BIGINT, -- sum of the durations of the device work launched by it or by an operator inside it; NULL likewise
    self_work_count INTEGER, -- kernels, copies and fills in self_device_ns
    flop_count BIGINT, -- floating-point operations by PyTorch's formulas (a multiply-add is 2); NULL when PyTorch has none for it or its inputs were not recorded
    device_alloc_bytes BIGINT, -- GPU memory allocated in it but not by an operator inside it; NULL when memory was not recorded
    device_free_bytes BIGINT, -- GPU memory freed, likewise; not negative
    host_alloc_bytes BIGINT, -- CPU memory allocated, likewise
    host_free_bytes BIGINT, -- CPU memory freed, likewise; not negative
    range_context_id INTEGER NOT NULL, -- the set of ranges it was called in; 0 outside every range
    path_id INTEGER NOT NULL -- the path of names of these ranges; 0 outside every range
);

-- One allocation or release of memory by PyTorch's allocators; only where memory was recorded (profile_memory).
CREATE TABLE memory_event (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER NOT NULL, -- process
    tid INTEGER NOT NULL, -- thread
    time_ns BIGINT NOT NULL, -- when
    device_type VARCHAR NOT NULL, -- whose memory: cpu, cuda, hip, ...
    device_id INTEGER, -- GPU; NULL for the CPU's memory
    address BIGINT, -- where it lies; NULL when not said
    size_bytes BIGINT NOT NULL, -- bytes allocated; negative when freed
    allocated_bytes BIGINT, -- bytes the allocator has given out after it; NULL when not said
    reserved_bytes BIGINT, -- bytes the allocator holds after it; NULL when not said
    op_id INTEGER, -- innermost operator open on the thread; 0 outside every operator
    range_context_id INTEGER NOT NULL, -- the set of ranges it happened in; 0 outside every range
    path_id INTEGER NOT NULL -- the path of names of these ranges; 0 outside every range
);

-- Distinct stacks of Python functions; only where stacks were recorded (with_stack).
CREATE TABLE python_stack (
    run_id UUID NOT NULL, -- the run
    stack_id INTEGER NOT NULL, -- 1, 2, ... within the run
    parent_stack_id INTEGER, -- the stack without its innermost function; NULL for an outermost function
    depth INTEGER NOT NULL, -- functions on the stack
    function VARCHAR NOT NULL, -- innermost function as recorded, e.g. model.py(17): forward, or nn.Module: Linear_3
    is_module BOOLEAN NOT NULL, -- whether that function is the call of an nn.Module
    module_path VARCHAR -- names of the nn.Modules on the stack, outermost first, joined by ' > '; NULL without one
);

-- One call of a Python function; only where stacks were recorded (with_stack).
CREATE TABLE python_call (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    pid INTEGER NOT NULL, -- process
    tid INTEGER NOT NULL, -- thread
    stack_id INTEGER NOT NULL, -- the function and what called it
    start_ns BIGINT NOT NULL, -- start of the call
    duration_ns BIGINT NOT NULL, -- time in the call
    self_cpu_ns BIGINT NOT NULL, -- time in the call less that in the Python functions directly inside it
    self_device_ns BIGINT, -- sum of the durations of the device work launched by it but not by a Python function inside it; NULL when the source holds no device work at all
    total_device_ns BIGINT, -- sum of the durations of the device work launched by it or by a Python function inside it; NULL likewise
    module_cpu_ns BIGINT, -- for an nn.Module: time in the call less that in the nn.Modules next inside it; NULL for other functions
    module_device_ns BIGINT, -- for an nn.Module: device work launched by it but not by an nn.Module inside it; NULL for other functions, and likewise
    path_id INTEGER NOT NULL -- the path of names of the ranges it was called in; 0 outside every range
);

-- Sums of PyTorch's key_averages(), as saved to a file.
CREATE TABLE op_average (
    run_id UUID NOT NULL, -- the run
    source_id INTEGER NOT NULL, -- the source
    row_number INTEGER NOT NULL, -- 1, 2, ... in the order of the file
    name VARCHAR NOT NULL, -- operator, CUDA API function, range or kernel
    kind VARCHAR NOT NULL, -- cpu: runs on the CPU; device: a kernel, copy, fill or range on the device
    shapes VARCHAR, -- sizes of each input as JSON; NULL unless grouped by them
    call_count BIGINT NOT NULL, -- calls
    self_cpu_ns BIGINT, -- time on the CPU less that of what it called; NULL when not in the file
    total_cpu_ns BIGINT, -- time on the CPU
    self_device_ns BIGINT, -- time of the device work it launched itself; NULL when not in the file
    total_device_ns BIGINT, -- time of the device work that it or what it called launched
    self_device_bytes BIGINT, -- GPU memory allocated less freed, by it but not by what it called; NULL when not in the file
    total_device_bytes BIGINT, -- GPU memory allocated less freed, what it called included
    self_host_bytes BIGINT, -- CPU memory, likewise
    total_host_bytes BIGINT, -- CPU memory, likewise
    flop_count BIGINT -- floating-point operations as PyTorch counts them; NULL when not in the file
);

-- Device work knows its operator: NULL when the source records no operators or the launch was not captured, 0 outside every operator.
ALTER TABLE kernel ADD COLUMN op_id INTEGER;
ALTER TABLE memop ADD COLUMN op_id INTEGER;
COMMENT ON COLUMN kernel.op_id IS 'innermost operator that launched it; 0 outside every operator, NULL when operators were not recorded or the launch was not captured';
COMMENT ON COLUMN memop.op_id IS 'innermost operator that launched it; 0 outside every operator, NULL when operators were not recorded or the launch was not captured';

-- What only other tools than Nsight Systems leave out.
ALTER TABLE kernel ALTER COLUMN context_id DROP NOT NULL;
ALTER TABLE kernel ALTER COLUMN grid_x DROP NOT NULL;
ALTER TABLE kernel ALTER COLUMN grid_y DROP NOT NULL;
ALTER TABLE kernel ALTER COLUMN grid_z DROP NOT NULL;
ALTER TABLE kernel ALTER COLUMN block_x DROP NOT NULL;
ALTER TABLE kernel ALTER COLUMN block_y DROP NOT NULL;
ALTER TABLE kernel ALTER COLUMN block_z DROP NOT NULL;
ALTER TABLE memop ALTER COLUMN context_id DROP NOT NULL;
ALTER TABLE memop ALTER COLUMN size_bytes DROP NOT NULL;
ALTER TABLE sync ALTER COLUMN context_id DROP NOT NULL;
ALTER TABLE profiler_overhead ALTER COLUMN tid DROP NOT NULL;
COMMENT ON COLUMN nvtx_range.style IS 'push_pop or start_end; record_function for a range of the PyTorch profiler';
COMMENT ON COLUMN source.kind IS 'what captured it: nsys, ncu or torch';
COMMENT ON COLUMN source.form IS 'file form: sqlite, parquetdir, ncu-rep, torch-trace, ...';
