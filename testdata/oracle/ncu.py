"""Prints what NVIDIA's own reader reads of reports of Nsight Compute, a result a line, as JSON: what prof stores is compared with it.

    pip install ncu-report==2026.3.1
    python3 ncu.py REPORT...

It needs neither a GPU nor ncu. Integers are printed in full; a metric with values of instances alone has no value of its own (null), which
value() would give as 0.0. unit() of some metrics depends on what was asked before in the same process: those of which two orders give two
units have none (null).
"""
import json
import math
import os
import re
import sys
from importlib import metadata

VERSION = "2026.3.1"
if metadata.version("ncu-report") != VERSION:
    sys.exit(f"ncu-report is {metadata.version('ncu-report')}, not {VERSION}")

import ncu_report as ncu  # noqa: E402

KINDS = {ncu.IAction.WorkloadType_KERNEL: "kernel", ncu.IAction.WorkloadType_RANGE: "range", ncu.IAction.WorkloadType_CMDLIST: "cmdlist",
         ncu.IAction.WorkloadType_GRAPH: "graph", ncu.IAction.WorkloadType_SUBGRID_SCHEDULE: "subgrid schedule"}
SEVERITIES = {ncu.MsgType.NONE: "none", ncu.MsgType.OK: "ok", ncu.MsgType.OPTIMIZATION: "optimization", ncu.MsgType.WARNING: "warning",
              ncu.MsgType.ERROR: "error"}
SCOPES = {ncu.SpeedupType.UNKNOWN: "", ncu.SpeedupType.LOCAL: "local", ncu.SpeedupType.GLOBAL: "global"}
LEAST_ADDRESS, MOST_ADDRESS = 1 << 32, 1 << 57  # of code, among the keys of instances: others are counts, numbers of units and times


def plain(text):
    """A rule's text as a person reads it: of @section:Id:Text@, @sass:address:Text@ and @source:file:line:Text@ the Text; @url:text:address@ is text (address)."""
    text = re.sub(r"@(?:section|sass):[^@:]*:([^@]*?)@", r"\1", text)
    text = re.sub(r"@source:[^@:]*:[^@:]*:([^@]*?)@", r"\1", text)
    text = re.sub(r"@url:([^@:]*):([^@]*?)@", r"\1 (\2)", text)
    return re.sub(r"@(?:section|url|source):([^@:]*)[^@]*?@", r"\1", text).strip()


def number(value):
    """JSON has no such numbers."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def instances(metric):
    """Keys and values. has_value() of an instance is true of the second one only, whatever they hold."""
    keys = metric.correlation_ids() if metric.has_correlation_ids() else None
    return [(keys.value(i) if keys else i, number(metric.value(i))) for i in range(metric.num_instances())]


def courses(action):
    """Samples of metrics while the workload ran, by the times of its passes: start, end, value and number of neighbours of one value."""
    times = {name: keys.value(0) for name in action if name.startswith("profiler__timestamp_workload_")
             for keys in [action[name].correlation_ids()] if keys}
    ran = [(start, times[name.replace("_start_", "_end_")]) for name, start in times.items() if "_start_" in name]
    out = {}
    for name in action:
        if name.startswith("profiler__") or not action[name].has_correlation_ids():
            continue
        list, values = [], instances(action[name])
        keys = [k for k, _ in values if isinstance(k, int)]
        if len(keys) < 2:
            continue
        for (begin, value), end in zip(values, keys[1:] + [2 * keys[-1] - keys[-2]]):
            begun = [start for start, until in ran if 0 < begin < until and end > start]
            if begun and list and list[-1][1:3] == [begin - begun[0], value]:
                list[-1][1], list[-1][3] = end - begun[0], list[-1][3] + 1
            elif begun:
                list.append([begin - begun[0], end - begun[0], value, 1])
        if list:
            out[name] = list
    return out


def finding(rule):
    message = rule.rule_message() if rule.has_rule_message() else {"title": "", "message": "", "type": ncu.MsgType.NONE}
    speedup = rule.speedup_estimation() if rule.has_speedup_estimation() else None
    return {"rule": rule.rule_identifier(), "title": message["title"] or rule.name(), "section": rule.section_identifier(),
            "severity": SEVERITIES[message["type"]], "message": plain(message["message"]),
            "scope": SCOPES[speedup["type"]] if speedup else "", "speedup": speedup["speedup"] if speedup else 0,
            "metrics": [[m["name"], number(m["value"]), m["info"]] for m in rule.focus_metrics()],
            "cells": [[t["title"], header, plain(v) if isinstance(v, str) else number(v)] for t in rule.result_tables()
                      for header, column in zip(t["headers"], t["data"]) for v in column]}


def ranges(state):
    out = []
    for id in state or ():
        domain = state[id]
        for style, names in ("push_pop", domain.push_pop_ranges()), ("start_end", domain.start_end_ranges()):
            out += [[style, domain.name(), name] for name in names]
    return out


def result(action):
    metrics, at, addresses = {}, {}, set()
    for name in action:
        metric = action[name]
        metrics[name] = number(metric.value()) if metric.has_value() else None
        if metric.num_instances() == 0:
            continue
        values = instances(metric)
        values = [[k, v] for k, v in values if isinstance(k, int) and LEAST_ADDRESS < k < MOST_ADDRESS and isinstance(v, (int, float))]
        addresses.update(k for k, _ in values)
        values = [[k, v] for k, v in values if v != 0]
        if values:
            at[name] = values
    code = {}
    for address in sorted(addresses):
        source = action.source_info(address)
        code[address] = [source.file_name() if source else "", source.line() if source else 0, action.sass_by_pc(address).strip(),
                         action.ptx_by_pc(address).strip()]
    pcs = action.metric_by_name("launch__function_pcs")
    return {"kind": KINDS[action.workload_type()], "name": action.name(action.NameBase_DEMANGLED), "function": action.name(action.NameBase_FUNCTION),
            "symbol": action.name(action.NameBase_MANGLED), "metrics": metrics, "at": at, "code": code, "samples": courses(action),
            "functions": [v for _, v in instances(pcs)] if pcs else [], "findings": [finding(r) for r in action.rule_results()],
            "ranges": ranges(action.nvtx_state()), "files": dict(action.source_files()),
            "sections": [[s.identifier(), s.name(), [m.name() for m in s.header_metrics()]] for s in action.sections()]}


def units(path, backwards):
    """Units of the metrics, asked in a process of their own."""
    read, write = os.pipe()
    if os.fork() == 0:
        out = {}
        for part in ncu.load_report(path):
            for action in part:
                for name in reversed(list(action)) if backwards else action:
                    out.setdefault(name, action[name].unit())
        with os.fdopen(write, "w") as file:
            json.dump(out, file)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as file:
        out = json.load(file)
    os.wait()
    return out


for path in sys.argv[1:]:
    one, other = units(path, False), units(path, True)
    print(json.dumps({"report": os.path.basename(path), "units": {name: unit if other[name] == unit else None for name, unit in one.items()}}))
    for part in ncu.load_report(path):
        for action in part:
            print(json.dumps(result(action)))
