#!/usr/bin/env python3
"""Writes the small exports beside it: the forms that versions of Nsight Systems and kinds of capture take, and odd rows.

    python3 make_exports.py        # writes *.sqlite into its own folder

Every number in them is made up; export_test.go says what must come out.
"""
import os
import sqlite3

HERE = os.path.dirname(os.path.abspath(__file__))
SECRET = "hf_examplesecret0123456789"

KERNEL = ("start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, "
          "demangledName INTEGER, shortName INTEGER, {more}registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, "
          "blockX INTEGER, blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER{last}")
RUNTIME = "start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER"
MEMCPY = ("start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, "
          "bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER")
MEMSET = ("start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, "
          "value INTEGER, bytes INTEGER, memKind INTEGER")
NVTX = "start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER, globalTid INTEGER, endGlobalTid INTEGER{last}"
GRAPH = ("start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, "
         "graphId INTEGER, graphExecId INTEGER")
SYNC = ("start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, "
        "syncType INTEGER, eventId INTEGER")
CALL = "start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER"


def gpid(pid):
    return 1 << 56 | pid << 24


def gtid(pid, tid):
    return gpid(pid) | tid


class Export:
    """One export; strings are numbered as they are first named."""

    def __init__(self, name):
        self.path = os.path.join(HERE, name + ".sqlite")
        if os.path.exists(self.path):
            os.remove(self.path)
        self.db = sqlite3.connect(self.path)
        self.db.execute("PRAGMA page_size = 1024")
        self.ids = {}
        self.table("StringIds", "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL")
        self.id("HF_TOKEN=" + SECRET + "\0PATH=/usr/bin")  # as real exports do

    def table(self, name, columns, rows=()):
        self.db.execute(f"CREATE TABLE {name} ({columns})")
        for r in rows:
            self.db.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(r))})", r)

    def id(self, text):
        if text not in self.ids:
            self.ids[text] = len(self.ids)
            self.db.execute("INSERT INTO StringIds VALUES (?, ?)", (self.ids[text], text))
        return self.ids[text]

    def call(self, start, end, pid, tid, corr, name="cudaLaunchKernel_v7000", result=0):
        return (start, end, 0, gtid(pid, tid), corr, self.id(name), result)

    def close(self):
        self.db.commit()
        self.db.execute("VACUUM")
        self.db.close()


def kernel(x, start, end, pid, corr, name, device=0, stream=7, grid=(2, 1, 1), block=(64, 1, 1), more=(), last=(), short=None):
    ids = (x.id(name), x.id(short or name.split("<")[0].split("(")[0]))
    return (start, end, device, 1, stream, corr, gpid(pid) if pid is not None else None, *ids, *more, 32, *grid, *block, 0, 1024, *last)


def meta(x, schema="3.20.0", capture="uuid"):
    x.table("META_DATA_EXPORT", "name TEXT, value TEXT", [("EXPORT_PRODUCT_VERSION", "2025.3.1.90"), ("EXPORT_SCHEMA_VERSION", schema)])
    x.table("META_DATA_CAPTURE", "name TEXT, value TEXT", [
        ("PROFILING_SESSION_UUID", capture), ("PROCESS_0:COMMAND", "python"), ("PROCESS_0:ARGUMENT_0", "serve.py"),
        ("PROCESS_0:ARGUMENT_1", "--hf-token"), ("PROCESS_0:ARGUMENT_2", SECRET), ("PROCESS_0:ENVIRONMENT_0", "HF_TOKEN=" + SECRET),
        ("PROCESS_0:WORKING_DIR", "/srv/llm")])


def workload(x, suffix="", runtime_suffix="", kernel_more="", kernel_last="", nvtx_last="", rows=True):
    """A prefill and a decode step of process 100, thread 101: three kernels, a copy and a fill."""
    x.table("CUPTI_ACTIVITY_KIND_RUNTIME" + runtime_suffix, RUNTIME, [
        x.call(120, 130, 100, 101, 1), x.call(610, 620, 100, 101, 2), x.call(950, 960, 100, 101, 3),
        x.call(140, 150, 100, 101, 4, "cudaMemcpyAsync_v3020"), x.call(160, 165, 100, 101, 5, "cudaMemsetAsync_v3020"),
        x.call(20, 30, 100, 102, 6, "cudaDeviceSynchronize_v3020", 4)])
    more, last = (0,) if kernel_more else (), (None,) if kernel_last else ()
    x.table("CUPTI_ACTIVITY_KIND_KERNEL" + suffix, KERNEL.format(more=kernel_more, last=kernel_last), [
        kernel(x, 200, 260, 100, 1, "gemm<float>(float*)", more=more, last=last),
        kernel(x, 700, 800, 100, 2, "attn<4>()", grid=(4, 2, 1), block=(128, 2, 1), more=more, last=last),
        kernel(x, 1000, 1010, 100, 3, "attn<4>()", more=more, last=last)])
    x.table("CUPTI_ACTIVITY_KIND_MEMCPY" + suffix, MEMCPY, [(240, 340, 0, 1, 8, 4, gpid(100), 4096, 1, 0, 2)])
    x.table("CUPTI_ACTIVITY_KIND_MEMSET" + suffix, MEMSET, [(350, 355, 0, 1, 7, 5, gpid(100), 0, 128, 2)])
    extra = (0,) if nvtx_last else ()
    x.table("NVTX_EVENTS", NVTX.format(last=nvtx_last), [
        (100, 500, 59, "prefill", None, gtid(100, 101), None, *extra),
        (600, 900, 59, None, x.id("decode_step[0]"), gtid(100, 101), None, *extra),
        (550, None, 34, "mark", None, gtid(100, 101), None, *extra)])


def old():
    """As nsys of 2021 wrote: no enumerations, graph nodes, domains or facts, and the GPU under another name."""
    x = Export("old")
    workload(x)
    x.table("TARGET_INFO_CUDA_GPU", "id INTEGER, name TEXT, busLocation TEXT, smCount INTEGER, clockRate INTEGER, totalMemory INTEGER, memoryBandwidth INTEGER",
            [(0, "Tesla V100", "0000:07:00.0", 80, 1380000000, 16914055168, 0)])
    x.close()


def versions():
    """Tables with a version in their names, an older version of one beside it."""
    x = Export("versions")
    workload(x, "_V3", "_V2", "mangledName INTEGER, ", ", graphNodeId INTEGER", ", domainId INTEGER")
    x.table("CUPTI_ACTIVITY_KIND_KERNEL_V2", "start INTEGER, end INTEGER, deviceId INTEGER")
    meta(x, "2.0.0")
    x.close()


def graphs():
    """Graphs traced as a whole, library calls, waits, calls of the operating system, GPU metrics."""
    x = Export("graphs")
    meta(x)
    p, t = gpid(100), gtid(100, 101)
    x.table("CUPTI_ACTIVITY_KIND_RUNTIME", RUNTIME, [
        x.call(110, 120, 100, 101, 1, "cudaGraphLaunch_v10000"), x.call(210, 220, 100, 101, 2, "cudaGraphLaunch_v10000"),
        x.call(230, 900, 100, 101, 3, "cudaStreamSynchronize_v3020"), x.call(1000, 1010, 100, 101, 4, "cudaGraphLaunch_v10000"),
        x.call(240, 250, 100, 101, 5)])
    x.table("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", GRAPH, [
        (300, 500, 0, 1, 7, 1, p, 11, 21), (500, 750, 0, 1, 7, 2, p, 11, 21), (1100, 1400, 0, 1, 7, 4, p, 12, 22)])
    x.table("CUPTI_ACTIVITY_KIND_KERNEL", KERNEL.format(more="", last=", graphNodeId INTEGER"), [kernel(x, 400, 460, 100, 5, "side()", last=(None,))])
    x.table("NVTX_EVENTS", NVTX.format(last=", domainId INTEGER, category INTEGER"), [
        (100, 960, 59, "decode", None, t, None, 5, 3), (105, 125, 59, "decode_step[0]", None, t, None, 5, None),
        (205, 950, 59, "decode_step[1]", None, t, None, 0, None), (0, None, 75, None, x.id("LLM"), t, None, 5, None),
        (0, None, 75, "other process", None, gtid(200, 1), None, 5, None), (10, 20, 59, "orphan domain", None, t, None, 9, None)])
    x.table("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", SYNC, [
        (231, 899, 0, 1, 7, 3, p, 2, 0xFFFFFFFF), (2000, 2100, 0, 1, 7, 99, p, 1, 6), (2200, 2250, 0, 1, 7, None, None, 4, 0)])
    x.table("ENUM_CUPTI_SYNC_TYPE", "id INTEGER, name TEXT, label TEXT", [(4, "CONTEXT", "Whole context"), (1, "EVENT", "Event sync")])
    x.table("CUDNN_EVENTS", CALL, [(206, 216, t, x.id("cudnnConvolutionForward"))])
    x.table("CUBLAS_EVENTS", CALL, [(1020, 1030, t, x.id("cublasSgemm_v2")), (1040, 1035, t, x.id("cublasSgemm_v2"))])
    x.table("OSRT_API", CALL, [(1, 5, t, x.id("poll")), (6, 16, gtid(100, 102), x.id("poll")), (30, 20, t, x.id("read"))])
    x.table("TARGET_INFO_GPU_METRICS", "typeId INTEGER, sourceId INTEGER, typeName TEXT, metricId INTEGER, metricName TEXT", [
        (1 << 48, 1 << 48, "", 0, "GPC Clock Frequency [MHz]"), (1 << 48, 1 << 48, "", 1, "SMs Active [Throughput %]"),
        (1 << 48, 1 << 48, "", 2, "DRAM Bytes"), (1 << 48 | 1, 1 << 48, "", 1, "SMs Active [Throughput %]")])
    x.table("GPU_METRICS", "rawTimestamp INTEGER, timestamp INTEGER, typeId INTEGER, metricId INTEGER, value INTEGER", [
        (-5, -5, 1 << 48, 0, 1980000000), (10, 10, 1 << 48, 1, 50), (20, 20, 1 << 48, 1, 100), (10, 10, 1 << 48, 2, 7),
        (10, 10, 1 << 48 | 1, 1, 25), (10, 10, 77, 1, 3)])
    x.table("TARGET_INFO_SYSTEM_ENV", "globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER, value TEXT", [
        (0, "D", "Hostname", 0, "box"), (0, "D", "NvDriverVersion", 0, "580.159"), (0, "D", "DeviceEnvironment", 0, "HF_TOKEN=" + SECRET)])
    x.table("TARGET_INFO_SESSION_START_TIME", "utcEpochNs INTEGER, utcTime TEXT, localTime TEXT", [(1_700_000_000_123_456_789, "", "")])
    x.table("ANALYSIS_DETAILS", "globalVid INTEGER, duration INTEGER, startTime INTEGER, stopTime INTEGER", [(0, 5000, 0, 5000)])
    x.table("DIAGNOSTIC_EVENT", "timestamp INTEGER, timestampType INTEGER, source INTEGER, severity INTEGER, text TEXT, globalPid INTEGER", [
        (5, 0, 0, 2, "Number of events: \t12, HF_TOKEN=" + SECRET, p), (6, 0, 0, 3, "bad", None)])
    x.table("SCHED_EVENTS", "start INTEGER", [(1,)])
    x.table("BRAND_NEW", "start INTEGER", [(1,)])
    x.close()


def memory():
    """Allocations that --cuda-memory-usage=true records: of GPU and of pinned memory, in two stages and before them, and an event that is neither."""
    x = Export("memory")
    p, t = gpid(100), gtid(100, 101)
    x.table("CUPTI_ACTIVITY_KIND_RUNTIME", RUNTIME, [x.call(110, 120, 100, 101, 1, "cudaLaunchKernel_v7000"), x.call(310, 320, 100, 101, 2, "cudaLaunchKernel_v7000")])
    x.table("CUPTI_ACTIVITY_KIND_KERNEL", KERNEL.format(more="", last=""), [kernel(x, 130, 190, 100, 1, "k()"), kernel(x, 330, 390, 100, 2, "k()")])
    x.table("NVTX_EVENTS", NVTX.format(last=""), [(100, 200, 59, "prefill", None, t, None), (300, 400, 59, "decode", None, t, None)])
    x.table("ENUM_CUDA_MEM_KIND", "id INTEGER, name TEXT, label TEXT", [(1, "PINNED", "Pinned"), (2, "DEVICE", "Device")])
    x.table("CUDA_GPU_MEMORY_USAGE_EVENTS", "start INTEGER NOT NULL, globalPid INTEGER, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, address INTEGER NOT NULL, pc INTEGER NOT NULL, "
            "bytes INTEGER NOT NULL, memKind INTEGER NOT NULL, memoryOperationType INTEGER NOT NULL, name TEXT, correlationId INTEGER, streamId INTEGER, localMemoryPoolAddress INTEGER, "
            "localMemoryPoolReleaseThreshold INTEGER, localMemoryPoolSize INTEGER, localMemoryPoolUtilizedSize INTEGER, importedMemoryPoolAddress INTEGER, importedMemoryPoolProcessId INTEGER", [
                (at, p, 0, 1, address, 0, size, kind, operation, None, None, None, None, None, None, None, None, None) for at, address, size, kind, operation in [
                    (10, 4096, 1000, 2, 0), (15, 9000, 64, 1, 0), (150, 8192, 500, 2, 0), (160, 8192, 500, 2, 1), (160, 8192, 700, 2, 0), (250, 8192, 700, 2, 1), (350, 1, 5, 2, 7)]])
    x.close()


def processes():
    """Two processes that each call their only GPU 0, with the same correlation ids."""
    x = Export("processes")
    meta(x)
    x.table("TARGET_INFO_GPU", "id INTEGER, name TEXT, uuid TEXT, smCount INTEGER", [(0, "NVIDIA H200", "GPU-0", 132), (1, "NVIDIA H200", "GPU-1", 132)])
    x.table("TARGET_INFO_CUDA_DEVICE", "gpuId INTEGER, cudaId INTEGER, pid INTEGER, uuid TEXT", [(0, 0, 100, "GPU-0"), (1, 0, 200, "GPU-1")])
    x.table("PROCESSES", "globalPid INTEGER, pid INTEGER, name TEXT", [(gpid(100), 100, "rank0"), (gpid(200), 200, "rank1"), (gpid(200), 200, "again")])
    x.table("ThreadNames", "nameId INTEGER, priority INTEGER, globalTid INTEGER", [(x.id("main"), 0, gtid(100, 100)), (x.id("other"), 0, gtid(200, 200))])
    x.table("CUPTI_ACTIVITY_KIND_RUNTIME", RUNTIME, [
        x.call(10, 15, 100, 100, 1), x.call(12, 17, 200, 200, 1), x.call(30, 35, 100, 100, 2), x.call(32, 37, 200, 200, 2), x.call(50, 55, 200, 201, 3)])
    x.table("CUPTI_ACTIVITY_KIND_KERNEL", KERNEL.format(more="", last=""), [
        kernel(x, 20, 21, 100, 1, "k()"), kernel(x, 20, 22, 200, 1, "k()"), kernel(x, 40, 44, 100, 2, "k()"), kernel(x, 40, 48, 200, 2, "k()"),
        kernel(x, 60, 76, 200, 3, "k()"), kernel(x, 60, 92, 100, 3, "k()")])  # 100 has no call 3
    x.table("NVTX_EVENTS", NVTX.format(last=""), [
        (5, 25, 59, "prefill", None, gtid(100, 100), None), (31, 56, 60, "request", None, gtid(200, 200), gtid(200, 201)), (28, 36, 59, "decode", None, gtid(100, 100), None)])
    x.close()


def odd():
    """Rows that end before they start, lack a correlation id, a process or a launch."""
    x = Export("odd")
    meta(x)
    t = gtid(100, 101)
    x.table("CUPTI_ACTIVITY_KIND_RUNTIME", RUNTIME, [
        x.call(10, 20, 100, 101, 1), x.call(12, 18, 100, 101, 1, "cuLaunchKernel"), x.call(50, 40, 100, 101, 2), x.call(60, 70, 100, 101, None),
        (80, 5_000_000_080, 0, t, 4, x.id("cudaLaunchKernel_v7000"), None)])
    x.table("CUPTI_ACTIVITY_KIND_KERNEL", KERNEL.format(more="", last=""), [
        kernel(x, 100, 110, 100, 1, "k()"), kernel(x, 130, 120, 100, 1, "k()"), kernel(x, 200, 220, 100, 2, "k()"), kernel(x, 300, 330, 100, None, "k()"),
        kernel(x, 400, 440, None, 1, "k()"), kernel(x, 500, 550, 100, 77, "k()"), kernel(x, 600, 660, 100, 4, "k()"), kernel(x, 700, 700, 100, 4, "k()")])
    x.table("CUPTI_ACTIVITY_KIND_MEMCPY", MEMCPY, [(800, 805, 0, 1, 7, 1, gpid(100), 64, 99, None, None), (810, 805, 0, 1, 7, 1, gpid(100), 64, 1, 0, 2)])
    x.table("ANALYSIS_DETAILS", "globalVid INTEGER, duration INTEGER, startTime INTEGER, stopTime INTEGER", [(0, 9000, 0, 9000)])
    x.table("NVTX_EVENTS", NVTX.format(last=", domainId INTEGER"), [
        (0, 9000, 59, "never popped", None, t, None, 0), (5, None, 60, "never ended", None, t, None, 0), (30, 20, 59, "backward", None, t, None, 0),
        (1, 2, 59, "no thread", None, None, None, 0), (15, 15, 59, "empty", None, t, None, 0), (3, 4, 59, None, None, t, None, 0), (10, 20, 59, "one", None, t, None, 0)])
    x.close()


def strings():
    """A kernel's name is not among the strings."""
    x = Export("strings")
    meta(x)
    workload(x)
    x.db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 4711 WHERE start = 700")
    x.close()


def no_nvtx():
    """CUDA alone was traced."""
    x = Export("no_nvtx")
    meta(x)
    workload(x)
    x.db.execute("DROP TABLE NVTX_EVENTS")
    x.close()


def no_cuda():
    """Nothing on a GPU was traced."""
    x = Export("no_cuda")
    meta(x)
    x.table("NVTX_EVENTS", NVTX.format(last=""), [(5, 25, 59, "prefill", None, gtid(100, 100), None)])
    x.close()


def operators():
    """Ranges of torch.autograd.profiler.emit_nvtx, and ranges that only look alike."""
    x = Export("operators")
    meta(x)
    main, back, other, old_torch = gtid(100, 101), gtid(100, 102), gtid(100, 103), gtid(200, 201)
    x.table("ANALYSIS_DETAILS", "globalVid INTEGER, duration INTEGER, startTime INTEGER, stopTime INTEGER", [(0, 2000, 0, 2000)])
    x.table("CUPTI_ACTIVITY_KIND_RUNTIME", RUNTIME, [
        x.call(160, 170, 100, 101, 1), x.call(162, 168, 100, 101, 1, "cuLaunchKernel"), x.call(280, 285, 100, 101, 2, "cudaMemsetAsync_v3020"),
        x.call(330, 340, 100, 101, 3), x.call(395, 405, 100, 101, 4), x.call(420, 430, 100, 101, 5), x.call(460, 470, 100, 101, 6),
        x.call(545, 555, 100, 101, 7), x.call(620, 630, 100, 102, 8), x.call(960, 980, 100, 101, 9, "cudaGraphLaunch_v10000"),
        x.call(130, 135, 200, 201, 1), x.call(1500, 1510, 100, 101, 10)])
    x.table("CUPTI_ACTIVITY_KIND_KERNEL", KERNEL.format(more="", last=""), [
        kernel(x, 200, 201, 100, 1, "k()"), kernel(x, 340, 344, 100, 3, "k()"), kernel(x, 410, 418, 100, 4, "k()"), kernel(x, 430, 446, 100, 5, "k()"),
        kernel(x, 470, 502, 100, 6, "k()"), kernel(x, 560, 624, 100, 7, "k()"), kernel(x, 640, 768, 100, 8, "k()"), kernel(x, 800, 1056, 100, 77, "k()"),
        kernel(x, 140, 652, 200, 1, "k()"), kernel(x, 1510, 2534, 100, 10, "k()")])
    x.table("CUPTI_ACTIVITY_KIND_MEMSET", MEMSET, [(290, 292, 0, 1, 7, 2, gpid(100), 0, 128, 2)])
    x.table("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", GRAPH, [(970, 1970, 0, 1, 7, 9, gpid(100), 11, 21)])
    rows = []

    def add(start, end, thread, text, kind=59, domain=0, registered=False):
        rows.append((start, end, kind, None if registered else text, x.id(text) if registered else None, thread, None, domain))
    add(100, 1000, main, "prefill")
    add(110, 300, main, "aten::linear, seq = 5, op_id = 11, sizes = [[1, 4], [4, 4]], input_op_ids = [(0,-1), (0,-1)]")
    add(115, 130, main, "aten::t, seq = 5, op_id = 12, sizes = [[4, 4]], input_op_ids = [(0,-1)]")
    add(140, 290, main, "aten::addmm, seq = 6, op_id = 13, sizes = [[4], [1, 4], [4, 4]], input_op_ids = [(0,-1), (0,-1), (12,0)]")
    add(150, 350, main, "lib, op_id = 97", domain=5)  # crosses the end of the operator it begins in
    add(310, 400, main, "aten::add, op_id = 14")
    add(320, 390, main, "aten::add, op_id = 15")
    add(410, 450, main, "batch, seq = 128")
    add(450, 500, main, "aten::fake, op_id = 99", kind=60)
    add(510, 540, main, "aten::mul, seq = 7, op_id = 24, sizes = [[4], []]")
    add(541, 560, main, "a range, of record_function's, op_id = 26")
    add(543, 558, main, "inner")
    add(950, 2000, main, "aten::sync, op_id = 17")  # the capture's length: never popped
    add(512, 530, other, "aten::mul, seq = 7, op_id = 25, sizes = [[4], []]")
    add(540, 590, other, "aten::div, op_id = 27")
    add(545, 585, other, "aten::div, op_id = 28")  # all that the one around it calls
    add(600, 700, back, "autograd::engine::evaluate_function: AddmmBackward0, op_id = 18")
    add(610, 690, back, "AddmmBackward0, seq = 6, op_id = 19, sizes = [[1, 4]], input_op_ids = [(0,-1)]")
    add(700, 750, back, "autograd::engine::evaluate_function: TBackward0, op_id = 20")
    add(710, 740, back, "TBackward0, seq = 5, op_id = 21, sizes = [[4, 4]], input_op_ids = [(19,0)]")
    add(760, 790, back, "autograd::engine::evaluate_function: MulBackward0, op_id = 22")
    add(765, 785, back, "MulBackward0, seq = 7, op_id = 23")  # two threads made a number 7
    add(120, 200, old_torch, "aten::mm, seq = 6, sizes = [[4, 4], [4, 4]]")
    add(125, 180, old_torch, "aten::relu, op_id = 3", registered=True)
    add(0, None, main, "lib", kind=75, domain=5)
    x.table("NVTX_EVENTS", NVTX.format(last=", domainId INTEGER"), rows)
    x.close()


def collectives():
    """Calls of NCCL with payloads as JSON: alone, in groups, of communicators that are known, unknown and of two GPUs, and payloads that are none."""
    x = Export("collectives")
    meta(x)
    main, other = gtid(100, 101), gtid(200, 201)
    names = ["ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096>)", "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096>)"]
    at = [(210, 0), (310, 0), (545, 1), (610, 0), (745, 1), (760, 1), (910, 0), (1110, 0)]  # launches, and the kernel of each
    x.table("CUPTI_ACTIVITY_KIND_RUNTIME", RUNTIME, [x.call(t, t + 5, 100, 101, i + 1, "cuLaunchKernelEx") for i, (t, _) in enumerate(at)] + [x.call(215, 220, 200, 201, 1, "cuLaunchKernelEx")])
    x.table("CUPTI_ACTIVITY_KIND_KERNEL", KERNEL.format(more="", last=""),
            [kernel(x, t + 10, t + 30, 100, i + 1, names[k]) for i, (t, k) in enumerate(at)] + [kernel(x, 240, 250, 200, 1, names[0], device=1)])
    rows = [(1, None, 75, "NCCL", None, main, None, 3, None, None), (1, None, 75, "NCCL", None, other, None, 4, None, None), (2, None, 75, "mine", None, main, None, 5, None, None)]

    def add(start, end, name, payload=None, thread=main, domain=3, registered=False):
        rows.append((start, end, 59, None, x.id(name), thread, None, domain, None if registered else payload, x.id(payload) if registered else None))

    def message(comm, size, more=""):
        return '{"NCCL communicator ID":%s,"Message size [bytes]":%s%s}' % (comm, size, more)

    def comm(id, size, rank):
        return '{"NCCL communicator ID":%s,"No. of ranks":%d,"Rank":%d,"CUDA device":0}' % (id, size, rank)
    tp, dp, lost = 18446744073709551615, 7, 9
    add(10, 20, "ncclCommInitRankConfig", comm(tp, 4, 3))
    add(30, 40, "ncclCommInitRank", comm(dp, 2, 0))
    add(50, 60, "ncclCommInitRank", comm(dp, 2, 1))  # a process with two GPUs
    add(30, 40, "ncclCommInitRankConfig", comm(tp, 4, 1), other, 4)
    add(200, 230, "ncclAllReduce", message(tp, 4096, ',"Reduction operation":"Sum"'))
    add(200, 230, "ncclAllReduce", message(tp, 4096, ',"Reduction operation":"Sum"'), other, 4)
    add(300, 330, "ncclAllGather", message(lost, 1024), registered=True)
    add(500, 501, "ncclGroupStart")  # two groups in each other: one kernel
    add(502, 503, "ncclGroupStart")
    add(510, 511, "ncclSend", message(dp, 100, ',"Peer rank":1'))
    add(520, 521, "ncclRecv", message(dp, 60, ',"Peer rank":1'))
    add(530, 531, "ncclGroupEnd")
    add(540, 560, "ncclGroupEnd")
    add(600, 630, "ncclReduceScatter", '{"NCCL communicator ID":7,"Message size [bytes]":"many"}')
    add(700, 701, "ncclGroupStart")  # two kernels: whose are the bytes?
    add(710, 711, "ncclSend", message(dp, 8))
    add(720, 721, "ncclRecv", message(dp, 8))
    add(740, 780, "ncclGroupEnd")
    add(900, 930, "ncclAllReduce", message(tp, 64), domain=5)  # not of NCCL's domain
    add(1000, 1001, "ncclGroupEnd")  # its start was not captured
    add(1100, 1130, "ncclReduceScatter", message(tp, 256))
    x.table("NVTX_EVENTS", NVTX.format(last=", domainId INTEGER, jsonText TEXT, jsonTextId INTEGER"), rows)
    x.close()


def stacks():
    """Calls with Python stacks: with functions, outside Python, with payloads that are none, and one that nsys took no stack of."""
    x = Export("stacks")
    meta(x)
    t, backtraces = gtid(100, 101), 70
    x.table("ENUM_NSYS_EVENT_CLASS", "id INTEGER, name TEXT, label TEXT", [(0, "RUNTIME", "CUDA runtime"), (backtraces, "BACKTRACE", "CUDA backtrace")])
    calls, kernels, marks = [], [], [(10, None, 75, "Python Backtrace on CUDA", None, t, None, 2, None), (11, None, 75, "Mine", None, t, None, 3, None)]

    def frames(*functions):
        return '{"Python Backtrace on CUDA":{"Thread state":"Running","Frames":[%s]}}' % ",".join(
            '{"Function":%d,"File":%d,"Line":%d}' % (x.id(name), x.id(file), line) for file, line, name in functions)

    outer = [("/srv/llm/run.py", 9, "step"), ("/srv/llm/run.py", 20, "&lt;module&gt;")]
    payloads = [frames(("/srv/llm/model.py", 3, "forward"), *outer), frames(*outer), frames(), None, "[1", '{"Mine":{"Frames":[]}}', '{"Python Backtrace on CUDA":{"Frames":7}}', "", frames(*outer)]
    for k, payload in enumerate(payloads):
        at = 1000 * (k + 1)
        calls.append(x.call(at + 10, at + 20, 100, 101, k + 1))
        kernels.append(kernel(x, at + 100, at + 160, 100, k + 1, "gemm<float>(float*)"))
        if k < len(payloads) - 1:
            c = x.call(at, at + 30, 100, 101, k + 1)
            calls.append((*c[:2], backtraces, *c[3:]))
        if payload is not None:
            marks.append((at, None, 34, None, None, t, None, 3 if k == len(payloads) - 1 else 2, payload))
    x.table("CUPTI_ACTIVITY_KIND_RUNTIME", RUNTIME, calls)
    x.table("CUPTI_ACTIVITY_KIND_KERNEL", KERNEL.format(more="", last=""), kernels)
    x.table("NVTX_EVENTS", NVTX.format(last=", domainId INTEGER, jsonText TEXT"), marks)
    x.close()


def samples():
    """Samples of Python in gaps of 9900 ns, each before a kernel at a round 10 us: whose functions are clear, divided, unread, another thread's, or none."""
    x = Export("samples")
    meta(x)
    t, other, backtraces = gtid(100, 101), gtid(100, 102), 70
    x.table("ENUM_NSYS_EVENT_CLASS", "id INTEGER, name TEXT, label TEXT", [(0, "RUNTIME", "CUDA runtime"), (backtraces, "BACKTRACE", "CUDA backtrace")])
    calls, kernels = [], []
    rows = [(10, None, 75, "Python Backtrace on CUDA", None, t, None, 2, None), (11, None, 75, "Python Periodic Sampling", None, t, None, 4, None),
            (11500, 32000, 59, "prefill", None, t, None, 0, None), (21500, 22500, 59, "Python GC", None, t, None, 0, None)]

    def frames(domain, functions):
        return '{"%s":{"Thread state ID":1,"Thread state":"Running","Frames count":%d,"Frames":[%s]}}' % (domain, len(functions), ",".join(
            '{"Function":%d,"File":%d,"Line":%d}' % (x.id(name), x.id(file), line) for file, line, name in functions))

    main = ("/srv/llm/run.py", 20, "&lt;module&gt;")
    step, step9 = [("/srv/llm/run.py", 10, "step"), main], [("/srv/llm/run.py", 9, "step"), main]
    prep30, prep31, rest = [("/srv/llm/data.py", 30, "prep"), *step], [("/srv/llm/data.py", 31, "prep"), *step], [("/srv/llm/data.py", 50, "rest"), *step]
    lib = [("/usr/lib/python3.12/random.py", 5, "shuffle"), *prep30]

    def sample(at, functions, thread=t):
        rows.append((at, None, 34, None, None, thread, None, 4, functions if isinstance(functions, str) else frames("Python Periodic Sampling", functions)))

    def launch(at, functions):  # by a call of which nsys took no stack where functions is None
        n = len(kernels) + 1
        calls.append(x.call(at - 50, at - 20, 100, 101, n))
        if functions is not None:
            c = x.call(at - 60, at - 20, 100, 101, n)
            calls.append((*c[:2], backtraces, *c[3:]))
            rows.append((at - 60, None, 34, None, None, t, None, 2, frames("Python Backtrace on CUDA", functions)))
        kernels.append(kernel(x, at, at + 100, 100, n, "gemm<float>(float*)"))

    launch(10000, step)
    for at, functions in ((12000, lib), (14000, prep31), (16000, prep31), (19945, rest)):
        sample(at, functions)
    launch(20000, None)
    sample(22000, prep30), sample(24000, [("/srv/llm/data.py", 50, "rest"), *step9])
    launch(30000, step)
    sample(33000, prep31, other)
    launch(40000, step)
    sample(40100, prep31), sample(50000, rest), sample(50050, rest)
    launch(50000, None)
    sample(52000, prep31), sample(53000, "[1")
    launch(60000, None)
    sample(62000, [])
    launch(70000, step)
    launch(80000, [])
    launch(90000, None)
    x.table("CUPTI_ACTIVITY_KIND_RUNTIME", RUNTIME, calls)
    x.table("CUPTI_ACTIVITY_KIND_KERNEL", KERNEL.format(more="", last=""), kernels)
    x.table("NVTX_EVENTS", NVTX.format(last=", domainId INTEGER, jsonText TEXT"), rows)
    x.close()


for make in (old, versions, graphs, processes, odd, strings, no_nvtx, no_cuda, operators, collectives, memory, stacks, samples):
    make()
