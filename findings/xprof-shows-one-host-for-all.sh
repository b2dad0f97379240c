#!/usr/bin/env bash
# XProf 2.24.2 shows the host that you look at first for every host: the slow rank has the figures of the fast one.
#
# A session's folder has one .xplane.pb for each host, and its page and API let you choose one. What XProf makes of your choice it saves in that folder as
# ALL_HOSTS.op_stats_v2.pb, whichever host it was, and takes it for every later single host: kernels, framework and HLO operations, roofline. Of three hosts
# whose kernel takes 10, 20 and 30 us all show 10, or 30 if you begin with that one: who looks for the late rank finds ranks that are alike to the last
# digit. "ALL_HOSTS" is right, and after it each single host shows the rows of all. Ask with use_saved_result=false, which the page does not do by itself,
# give each host a folder of its own, or take the command line (xprof get_hlo_stats --host=host1), which has each host's own figures.
#
# Asks XProf's own server, as its page does; needs no GPU. Seen on 2026-11-30 with xprof 2.24.2, Python 3.11:
#   asked in turn: 100 us, 100 us, 100 us
#   with use_saved_result=false: 100 us, 200 us, 300 us
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q --disable-pip-version-check xprof==2.24.2
cat >"$dir/hosts.py" <<'PY'
import gzip, json, os, socket, subprocess, sys, time, urllib.request


def number(n):
    return bytes([n & 127 | 128]) + number(n >> 7) if n > 127 else bytes([n])


def message(*fields):
    """A protobuf message of (number, value)."""
    out = b""
    for key, value in fields:
        value = value.encode() if isinstance(value, str) else value
        out += number(key << 3) + number(value) if isinstance(value, int) else number(key << 3 | 2) + number(len(value)) + value
    return out


def space(us):
    """An XSpace of one GPU: ten times one kernel."""
    stats = (4, message((1, 1), (5, "jit(decode)/dot_general:"))), (4, message((1, 2), (5, "regs:32 grid:132,1,1 block:128,1,1 occ_pct:100")))
    events = [(4, message((1, 1), (2, i * 100_000_000), (3, us * 1_000_000), *stats)) for i in range(10)]
    line = message((1, 7), (2, "Stream #7(Compute)"), (3, 1000), *events)
    named = [(5, message((1, i), (2, message((1, i), (2, name))))) for i, name in ((1, "tf_op"), (2, "kernel_details"))]
    return message((1, message((1, 1), (2, "/device:GPU:0"), (3, line), (4, message((1, 1), (2, message((1, 1), (2, "gemm"))))), *named)))


def ask(what):
    answer = urllib.request.urlopen(f"http://localhost:{ports[0]}/data/plugin/profile/{what}")
    return gzip.decompress(answer.read()) if answer.headers.get("Content-Encoding") == "gzip" else answer.read()


def kernels(host, more=""):
    table = json.loads(ask(f"data?run=run&tag=kernel_stats&host={host}{more}"))
    column = [c["id"] for c in table["cols"]].index("total_duration_us")
    return sum(row["c"][column]["v"] for row in table["rows"])


os.makedirs("log/plugins/profile/run")
for host in range(3):
    with open(f"log/plugins/profile/run/host{host}.xplane.pb", "wb") as f:
        f.write(space(10 * (host + 1)))
sockets = [socket.create_server(("localhost", 0)) for _ in range(2)]
ports = [str(s.getsockname()[1]) for s in sockets]
[s.close() for s in sockets]
with open("said", "w") as said, subprocess.Popen([sys.argv[1], "--logdir=log", "--port", ports[0], "--grpc_port", ports[1]], stdout=said, stderr=said) as server:
    try:
        for _ in range(120):
            try:
                ask("runs")
                break
            except OSError:
                time.sleep(1)
        turn = [kernels(f"host{i}") for i in range(3)]
        fresh = [kernels(f"host{i}", "&use_saved_result=false") for i in range(3)]
    finally:
        server.terminate()
print("asked in turn: " + ", ".join(f"{t:.0f} us" for t in turn))
print("with use_saved_result=false: " + ", ".join(f"{t:.0f} us" for t in fresh))
sys.exit((turn, fresh) != ([100] * 3, [100, 200, 300]))
PY
cd "$dir" && "$dir/venv/bin/python" hosts.py "$dir/venv/bin/xprof"
