"""Writes repeats/: what prof capture leaves of three runs without a tool, two under nsys and a failed one under ncu, without what the
tools captured. Nothing here was measured; the GPU is the one of nsys/llama-graph-node."""
import json
import pathlib

here = pathlib.Path(__file__).parent / "repeats"
argv = ["python3", "run.py", "--tokens", "32"]
second = 1_000_000_000
start = 1_763_718_000 * second  # 2025-11-21 09:40:00 UTC


def when(ns):
    whole, rest = divmod(ns, second)
    minutes, seconds = divmod(whole - 1_763_718_000, 60)
    return f"2025-11-21T09:{40 + minutes:02d}:{seconds:02d}.{rest:09d}Z"


def run_pass(number, tool, mode, repeat, begin, workload, **more):
    name = {"none": "baseline"}.get(tool, tool)
    return {"pass": number, "name": f"{name}-{repeat}", "tool": tool, "mode": mode, "repeat": repeat, "argv": argv if tool == "none" else [tool, "profile", *argv],
            "started_at": when(start + begin), "duration_ns": workload + second // 2, "workload_ns": workload, "exit_code": 0, "status": "ok", **more}


passes = [run_pass(i + 1, "none", "baseline", i + 1, i * 2 * second, ns) for i, ns in enumerate([1_000_000_000, 1_020_000_000, 980_000_000])]
for i, ns in enumerate([1_300_000_000, 1_340_000_000]):
    passes.append(run_pass(4 + i, "nsys", "deep", i + 1, (6 + 3 * i) * second, ns, tool_version="2025.3.1.90", artifact_bytes=2_000_000,
                           artifacts=[f"nsys/report-{i + 1}.nsys-rep", f"nsys/report-{i + 1}.sqlite"], samples=f"nsys/report-{i + 1}.samples.csv"))
passes.append(run_pass(6, "ncu", "kernels", 1, 12 * second, 400_000_000, tool_version="2025.3.1.0", exit_code=1, status="failed", clock_control="none",
                       reason="ncu may not read the GPU's counters (ERR_NVGPUCTRPERM)"))
uuid = "GPU-e835296f-5e8e-aa0b-5f6c-4bf5e7a2ea39"
devices = [{"device": 0, "uuid": uuid, "name": "NVIDIA H200", "bus_id": "00000000:00:06.0", "memory_bytes": 150_754_820_096, "power_limit_w": 700.0,
            "max_sm_clock_hz": 1_980_000_000, "max_memory_clock_hz": 3_201_000_000, "ecc": True, "mig": False, "other_process_count": 0},
           {"device": 1, "uuid": "GPU-00000000-1111-2222-3333-444444444444", "name": "NVIDIA H200", "other_process_count": 2}]
manifest = {"version": 1, "run": "repeats", "prof_version": "made-up", "mode": "deep", "argv": argv, "workload_key": "6d61646520757020", "folder": "/home/user/run", "host": "box",
            "git": {"commit": "0123456789abcdef0123456789abcdef01234567", "branch": "main", "dirty": True}, "started_at": when(start), "ended_at": when(start + 14 * second),
            "status": "partial", "passes": passes, "inputs": [{"path": "prompt.txt", "size_bytes": 12, "sha256": "a" * 64}, {"path": "gone.txt", "reason": "there is no such file"}],
            "devices": devices, "warnings": ["the second GPU is used by others"]}
(here / "run.json").write_text(json.dumps(manifest, indent=2) + "\n")
environment = {"host": "box", "driver_version": "580.159", "cpu": {"model": "a CPU", "usable": 8, "count": None}, "devices": [{"device": 0, "uuid": uuid}],
               "python": {"version": "3.12.3", "packages": ["torch 2.11.0", "transformers 5.17.0"]}, "variables": {"CUDA_VISIBLE_DEVICES": "0", "NCCL_DEBUG": ""}}
(here / "env.json").write_text(json.dumps(environment, indent=2) + "\n")
columns = "time_unix_ns,device_id,sm_ratio,memory_ratio,memory_used_bytes,sm_clock_hz,memory_clock_hz,power_w,temperature_c,throttle_mask,other_process_count"
for i in range(2):
    lines = [columns]
    for k in range(-1, 12):
        t = start + (6 + 3 * i) * second + k * second // 10
        busy = 2 <= k < 10
        slow = 4 if k in (4, 5) and i == 0 else 0
        lines.append(f"{t},0,{0.9 if busy else 0},{0.25 if busy else 0},{(4 if busy else 1) * 2**30},{1_500_000_000 if slow else 1_980_000_000},3201000000,"
                     f"{650.5 if busy else 120.25},{50 + k},{slow or (0 if busy else 1)},0")
        lines.append(f"{t},1,1,,,,,,,0,2" if k % 2 else f"{t},1,,,,,,,,,")
    (here / f"nsys/report-{i + 1}.samples.csv").write_text("\n".join(lines) + "\n")
(here / "baseline/workload.json").write_text(json.dumps({"runs": [{"prefill_len": 1, "new_tokens": 1}]}) + "\n")
(here / "ncu/workload.json").write_text(json.dumps({"runs": [{"prefill_len": 2, "new_tokens": 2}]}) + "\n")
