"""Writes rocpd.db and later.db: the records of `everything` in rocprof_test.go, in the tables that rocprofv3 writes (rocpd): of ROCm 7, and as later
versions have them, which keep times, places and categories apart."""
import os
import sqlite3
import sys

ID = "_0000a1b2_c3d4_e5f6_0718_293a4b5c6d7e"
LATER = len(sys.argv) > 1
path = os.path.join(os.path.dirname(__file__), "later.db" if LATER else "rocpd.db")
if os.path.exists(path):
    os.remove(path)
db = sqlite3.connect(path)


def table(name, *columns):
    key = '"id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "guid" TEXT DEFAULT "0000a1b2" NOT NULL'
    if name == "metadata":
        key = '"id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT'
    db.execute(f"CREATE TABLE IF NOT EXISTS `rocpd_{name}{ID}` ({key}, {', '.join(columns)})")
    db.execute(f"CREATE VIEW `rocpd_{name}` AS SELECT * FROM `rocpd_{name}{ID}`")


def ints(*names):
    return [f'"{n}" INTEGER' for n in names]


EXTRA = '"extdata" JSONB DEFAULT "{}" NOT NULL'
table("metadata", '"tag" TEXT NOT NULL', '"value" TEXT NOT NULL')
table("string", '"string" TEXT NOT NULL UNIQUE ON CONFLICT ABORT')
table("info_node", '"hash" BIGINT NOT NULL UNIQUE', '"machine_id" TEXT', '"hostname" TEXT')
table("info_process", *ints("nid", "ppid", "pid"), '"command" TEXT', '"environment" JSONB DEFAULT "{}" NOT NULL', EXTRA)
table("info_agent", *ints("nid", "pid"), "\"type\" TEXT CHECK (\"type\" IN ('CPU', 'GPU'))", *ints("absolute_index", "logical_index", "type_index", "uuid"), '"name" TEXT', '"product_name" TEXT', EXTRA)
table("info_kernel_symbol", *ints("nid", "pid", "code_object_id"), '"kernel_name" TEXT', '"display_name" TEXT', EXTRA)
table("event", *ints("category_id", "stack_id", "parent_stack_id", "correlation_id"), '"call_stack" JSONB DEFAULT "{}" NOT NULL', EXTRA, f"FOREIGN KEY (category_id) REFERENCES `rocpd_string{ID}` (id) ON UPDATE CASCADE")
table("track", *ints("nid", "pid", "tid", "agent_id", "queue_id", "stream_id", "name_id"), EXTRA)
WHEN = ['"start" BIGINT NOT NULL', '"end" BIGINT NOT NULL']
if LATER:
    table("timestamp", '"value" BIGINT NOT NULL', *ints("phase", "track_id"))
    table("info_category", '"name" TEXT')
    WHEN = ints("start_id", "end_id")
table("region", *(ints("track_id") if LATER else ints("nid", "pid", "tid")), *WHEN, *ints("name_id", "event_id"), EXTRA)
table("sample", *ints("track_id", "timestamp_id" if LATER else "timestamp", "event_id"), EXTRA)
table("kernel_dispatch", *(ints("track_id") if LATER else ints("nid", "pid", "tid", "agent_id", "queue_id", "stream_id")), *ints("kernel_id", "dispatch_id"), *WHEN,
      *ints("workgroup_size_x", "workgroup_size_y", "workgroup_size_z", "grid_size_x", "grid_size_y", "grid_size_z", "region_name_id", "event_id"), EXTRA)
table("memory_copy", *(ints("track_id") if LATER else ints("nid", "pid", "tid", "queue_id", "stream_id")), *WHEN, *ints("name_id", "dst_agent_id", "src_agent_id", "size", "event_id"), EXTRA)


def row(of, /, **cells):
    names, marks = ", ".join(f'"{c}"' for c in cells), ", ".join("?" * len(cells))
    db.execute(f"INSERT INTO `rocpd_{of}{ID}` ({names}) VALUES ({marks})", list(cells.values()))


tracks, times = [], []


def placed(of, start, end, pid, tid, agent_id=None, queue_id=None, stream_id=None, **cells):
    """A record, with its times and its place or with what refers to them."""
    at = {"nid": 1, "pid": pid, "tid": tid, "queue_id": queue_id, "stream_id": stream_id}
    if of == "kernel_dispatch" or LATER:
        at["agent_id"] = agent_id
    if of == "region" and not LATER:
        del at["queue_id"], at["stream_id"]
    if not LATER:
        return row(of, start=start, end=end, **at, **cells)
    tracks.append(at)
    times.extend([start, end])
    row("track", id=len(tracks), **at)
    for n in (1, 0):
        row("timestamp", id=len(times) - n, value=times[-1 - n], track_id=len(tracks))
    row(of, track_id=len(tracks), start_id=len(times) - 1, end_id=len(times), **cells)


row("metadata", tag="schema_version", value="3")
strings = ["", "HIP_RUNTIME_API", "MARKER_CORE_API", "MEMORY_COPY", "KERNEL_DISPATCH", "hipLaunchKernel", "roctxMarkA", "roctxRangePushA", "MEMORY_COPY_HOST_TO_DEVICE"]
for s in strings:
    row("string", id=strings.index(s) + 1, string=s)


def string(s):
    return strings.index(s) + 1


if LATER:
    for s in strings[1:5]:
        row("info_category", id=100 + string(s), name=s)
CATEGORY = 100 if LATER else 0
row("info_node", id=1, hash=7, machine_id="1", hostname="gpuhost")
row("info_process", id=40, nid=1, ppid=1, pid=40, command="./app --token hf_examplesecret0123456789", environment='{"HF_TOKEN": "hf_examplesecret0123456789"}')
row("info_agent", id=0, nid=1, pid=40, type="CPU", absolute_index=0, logical_index=0, type_index=0, name="CPU", product_name="CPU")
row("info_agent", id=4, nid=1, pid=40, type="GPU", absolute_index=4, logical_index=4, type_index=1, name="gfx90a", product_name="AMD Instinct MI210", extdata='{"cu_count": 104}')
row("info_kernel_symbol", id=5, nid=1, pid=40, code_object_id=1, kernel_name="gemm.kd", display_name="gemm")
row("event", id=1, category_id=CATEGORY + string("HIP_RUNTIME_API"), stack_id=2)
row("event", id=2, category_id=CATEGORY + string("MARKER_CORE_API"), stack_id=3, extdata='{"message": "prefill"}')
row("event", id=3, category_id=CATEGORY + string("MARKER_CORE_API"), stack_id=4, extdata='{"message": "here"}')
row("event", id=4, category_id=CATEGORY + string("KERNEL_DISPATCH"), stack_id=2)
row("event", id=5, category_id=CATEGORY + string("MEMORY_COPY"), stack_id=8)
placed("region", id=2, pid=40, tid=41, start=110, end=120, name_id=string("hipLaunchKernel"), event_id=1)
placed("region", id=3, pid=40, tid=41, start=100, end=200, name_id=string("roctxRangePushA"), event_id=2)
row("track", id=77, nid=1, pid=40, tid=41)
if LATER:
    row("timestamp", id=10_000_000, value=130)  # far from the others
row("sample", id=4, track_id=77, event_id=3, **({"timestamp_id": 10_000_000} if LATER else {"timestamp": 130}))
placed("kernel_dispatch", id=1, pid=40, tid=41, agent_id=4, kernel_id=5, dispatch_id=1, queue_id=6, stream_id=None, start=150, end=190,
    workgroup_size_x=64, workgroup_size_y=1, workgroup_size_z=1, grid_size_x=130, grid_size_y=1, grid_size_z=1, region_name_id=1, event_id=4)
placed("memory_copy", id=1, pid=40, tid=41, start=210, end=230, name_id=string("MEMORY_COPY_HOST_TO_DEVICE"), dst_agent_id=4, src_agent_id=0, size=4096, event_id=5)
db.execute(f"CREATE INDEX `event` ON `rocpd_kernel_dispatch{ID}` (event_id)")
db.commit()
db.execute("PRAGMA page_size = 1024")
db.execute("VACUUM")
