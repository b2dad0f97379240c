"""What HolisticTraceAnalysis 0.5.0 says of traces of PyTorch: hta.json.gz, which queries/peers_test.go compares with prof's figures.

Usage: pip install HolisticTraceAnalysis==0.5.0 'pandas<3'; hta_figures.py NAME=TRACE[=WINDOW] ... > hta.json
WINDOW is a part of the names of annotations whose critical paths are wanted. By default HTA rounds the starts of
events up and their ends down to whole microseconds; here it keeps their decimals. pandas 3 refuses its critical path."""
import json
import logging
import os
import sys
import warnings

os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

from hta.trace_analysis import TraceAnalysis  # noqa: E402


def ns(us):
    return round(float(us) * 1000)


def figures(path, window):
    trace = TraceAnalysis(trace_files={0: os.path.abspath(path)}, include_last_profiler_step=True)
    time = trace.get_temporal_breakdown(visualize=False).iloc[0]
    overlap = trace.get_comm_comp_overlap(visualize=False).iloc[0]["comp_comm_overlap_pctg"]
    kernels = trace.get_gpu_kernel_breakdown(visualize=False, num_kernels=1_000_000, duration_ratio=1.0)[1]
    launches = trace.get_cuda_kernel_launch_stats(ranks=[0], include_memory_events=False, visualize=False)[0]
    queues = trace.get_queue_length_summary(ranks=[0])["queue_length"]
    idle = trace.get_idle_time_breakdown(ranks=[0], visualize=False)[0]
    copies = []
    try:
        rates = trace.get_memory_bw_summary(ranks=[0])["memory_bw_gbps"]
        copies = [{"name": name, "most_bytes_per_s": float(r["max"]) * 1e9} for (_, name), r in rates.iterrows()]
    except TypeError:  # there are none
        pass
    return {
        "span_ns": ns(time["kernel_time(us)"]),
        "idle_ns": ns(time["idle_time(us)"]),
        "compute_ns": ns(time["compute_time(us)"]),
        "other_ns": ns(time["non_compute_time(us)"]),
        "overlap_percent": None if overlap != overlap else float(overlap),
        "kernels": [
            {"name": r["name"], "sum_ns": ns(r["sum (us)"]), "max_ns": ns(r["max (us)"]), "min_ns": ns(r["min (us)"]), "mean_ns": r["mean (us)"] * 1000, "std_ns": r["stddev"] * 1000}
            for _, r in kernels.iterrows() if r["kernel_type"] in ("COMPUTATION", "COMMUNICATION")
        ],
        "launches": {
            "calls": len(launches), "api_ns": ns(launches.cpu_duration.sum()), "kernel_ns": ns(launches.gpu_duration.sum()),
            "queue_ns": ns(launches.launch_delay.sum()), "short": int((launches.gpu_duration < launches.cpu_duration).sum()),
        },
        "queues": [{"stream": int(stream), "most": int(r["max"])} for (_, stream), r in queues.iterrows()],
        "idle": [{"stream": int(r["stream"]), "kind": r["idle_category"], "ns": ns(r["idle_time"])} for _, r in idle.iterrows()],
        "copies": copies,
        "paths": paths(trace, window) if window else [],
    }


def paths(trace, window):
    """The critical path of each annotation of a CPU thread. HTA's instances count those of the GPU's timeline too."""
    df = trace.t.get_trace(0)
    symbols = trace.t.symbol_table.get_sym_table()
    category = trace.t.symbol_table.get_sym_id_map().get("user_annotation")
    names = {i for i, s in enumerate(symbols) if window in s}
    out = []
    for i, (_, r) in enumerate(df[df.name.isin(names)].iterrows()):
        if r["cat"] != category:
            continue
        graph, _ = trace.critical_path_analysis(rank=0, annotation=window, instance_id=i)
        at = [graph.node_list[n].ts for n in graph.critical_path_nodes]
        sums = {"cpu": 0.0, "gpu": 0.0, "kernel_kernel_delay": 0.0, "kernel_launch_delay": 0.0}
        pieces = 0
        for u, v in zip(graph.critical_path_nodes, graph.critical_path_nodes[1:]):
            kind = graph.edges[u, v]["object"].type.value.removeprefix("critical_path_")
            if kind == "operator":
                event = graph.edge_to_event_map[(u, v)]
                kind = "gpu" if event >= 0 and df.stream.loc[event] >= 0 else "cpu"
                pieces += kind == "gpu"
            if kind in sums:
                sums[kind] += float(graph.edges[u, v]["weight"])
        out.append({"name": symbols[int(r["name"])], "range_ns": ns(r["dur"]), "elapsed_ns": ns(at[-1] - at[0]), "gpu_count": pieces, **{k + "_ns": ns(v) for k, v in sums.items()}})
    return out


def main():
    out = {}
    for arg in sys.argv[1:]:
        name, path, *window = arg.split("=")
        out[name] = figures(path, window[0] if window else None)
    json.dump(out, sys.stdout, indent=1)


main()
