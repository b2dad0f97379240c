"""What TraceLens (commit 171dd747) says of traces of PyTorch: tracelens.json.gz, which queries/peers_test.go compares with prof's figures.

Usage: PYTHONPATH=TRACELENS tracelens_figures.py ranks=RANK0,RANK1 NAME=TRACE ... > tracelens.json"""
import ast
import contextlib
import json
import sys
import tempfile

from TraceLens.NcclAnalyser.nccl_analyser import NcclAnalyser
from TraceLens.Reporting.generate_perf_report_pytorch import generate_perf_report_pytorch


def ns(us):
    return round(float(us) * 1000)


def shapes(dims):
    dims = ast.literal_eval(dims) if isinstance(dims, str) else dims
    return [list(d) if isinstance(d, tuple) and all(isinstance(n, int) for n in d) else None for d in dims]


def figures(path):
    with tempfile.TemporaryDirectory() as folder:
        report = generate_perf_report_pytorch(path, output_csvs_dir=folder, include_unlinked_kernels=True)
    time = {r["type"].removesuffix("_time") + "_ns": ns(r["time ms"] * 1000) for _, r in report["gpu_timeline"].iterrows()}
    perf = report["unified_perf_summary"]
    operators = [
        {"operator": r["name"], "category": r["op category"], "shapes": shapes(r["Input Dims"]), "calls": int(r["operation_count"]), "time_ns": ns(r["Kernel Time (µs)_sum"]),
         "flop": round(r["GFLOPS"] * 1e9), "bytes": round(r["Data Moved (MB)"] * 2**20)}
        for _, r in perf.iterrows() if "GFLOPS" in r and r["GFLOPS"] == r["GFLOPS"] and r["Data Moved (MB)"] == r["Data Moved (MB)"]
    ]
    sizes = report.get("coll_analysis")
    collectives = [] if sizes is None else [
        {"name": r["Collective name"], "bytes": round(max(r["In msg size (MB)_first"], r["Out msg size (MB)_first"]) * 2**20), "calls": int(r["operation_count"]), "total_ns": ns(r["dur_sum"]),
         "min_ns": ns(r["dur_min"]), "max_ns": ns(r["dur_max"])}
        for _, r in sizes.iterrows()
    ]
    return {"time": time, "operators": operators, "collectives": collectives}


def ranks(paths):
    waits = NcclAnalyser(paths, len(paths)).build_df_nccl_implicit_sync_cat()
    return [
        {"name": r["Collective name"], "bytes": round(r["Full msg size (MB)"] * 2**20), "transfer_ns": ns(r["comm_latency"]), "skew_ns": ns(r["skew in start time"]), "bus_gib_per_s": r["bus bw (GB/s)"]}
        for _, r in waits.iterrows()
    ]


def main():
    out = {"traces": {}}
    with contextlib.redirect_stdout(sys.stderr):
        for arg in sys.argv[1:]:
            name, path = arg.split("=")
            if name == "ranks":
                out["ranks"] = ranks(path.split(","))
            else:
                out["traces"][name] = figures(path)
    json.dump(out, sys.stdout, indent=1)


main()
