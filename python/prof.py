"""Answers of a prof warehouse as pandas, Polars or Arrow, with their units and notes.

    import prof
    w = prof.open()                                     # the warehouse of this project
    top = w.query("top-kernels", "baseline", stage="decode")
    top.attrs["units"], top.attrs["notes"]
    w.plot("stages", "baseline")

Every query is a macro of the warehouse, and its comment documents it: this module has no SQL of its own for them. Only duckdb is needed.
"""

from __future__ import annotations

import decimal
import difflib
import importlib
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import uuid
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence, Tuple

import duckdb

__all__ = ["Answer", "Error", "Query", "Rows", "Warehouse", "open"]

_FILE = "warehouse.duckdb"
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_INT = re.compile(r"^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER)$")


class Error(Exception):
    """What prof's warehouse cannot answer, and why."""


class Rows(List[Dict[str, Any]]):
    """An answer without pandas and Polars: a list of dicts, with attrs like those of a frame."""

    attrs: Dict[str, Any]


@dataclass(frozen=True)
class Query:
    """A query, as the comment of its macro documents it."""

    name: str
    version: int
    doc: str
    grain: str
    key: str
    topics: Tuple[str, ...] = ()  # of the caveats on its rows
    topics_without_rows: Tuple[str, ...] = ()
    options: Dict[str, str] = field(default_factory=dict)
    columns: Dict[str, str] = field(default_factory=dict)
    units: Dict[str, str] = field(default_factory=dict)  # of those columns that have one
    needs: Dict[str, str] = field(default_factory=dict)  # the option without which a column is left out

    @property
    def takes_run(self) -> bool:
        return next(iter(self.options), None) == "run"


@dataclass(frozen=True)
class Answer:
    """The rows of a query, before they become a frame."""

    names: List[str]
    types: List[str]
    rows: List[Tuple[Any, ...]]
    attrs: Dict[str, Any]

    def to(self, form: Optional[str] = None) -> Any:
        """The rows as "pandas", "polars", "arrow" or "rows"; without one, as the first of pandas and polars that is installed."""
        if form is None:
            form = next((f for f in ("pandas", "polars") if _has(f)), "rows")
        make = {"pandas": self._pandas, "polars": self._polars, "arrow": self._arrow, "rows": self._rows}.get(form)
        if make is None:
            raise Error(f'no form {form!r}: "pandas", "polars", "arrow" or "rows"')
        return make()

    def _column(self, i: int) -> List[Any]:
        return [r[i] for r in self.rows]

    def _rows(self) -> Rows:
        out = Rows(dict(zip(self.names, r)) for r in self.rows)
        out.attrs = self.attrs
        return out

    def _pandas(self) -> Any:
        pandas = _need("pandas")
        columns = {}
        for i, name in enumerate(self.names):
            values = self._column(i)
            columns[name] = pandas.Series(values, dtype=self._dtype(self.types[i], values))
        out = pandas.DataFrame(columns)
        out.attrs = dict(self.attrs)
        return out

    @staticmethod
    def _dtype(kind: str, values: Sequence[Any]) -> str:
        # Whole numbers stay whole where some are missing: pandas' default makes them floats, which are exact up to 2^53 only.
        missing = any(v is None for v in values)
        if _INT.match(kind) and all(v is None or -(2**63) <= v < 2**63 for v in values):
            return "Int64" if missing else "int64"
        if kind == "DOUBLE" or kind == "FLOAT" or kind.startswith("DECIMAL"):
            return "float64"
        if kind == "BOOLEAN":
            return "boolean" if missing else "bool"
        if kind == "TIMESTAMP":
            return "datetime64[us]"
        return "object"

    def _polars(self) -> Any:
        polars = _need("polars")
        schema = {}
        for name, kind in zip(self.names, self.types):
            is_float = kind == "DOUBLE" or kind == "FLOAT" or kind.startswith("DECIMAL")
            schema[name] = polars.Int64 if _INT.match(kind) else polars.Float64 if is_float else {
                "BOOLEAN": polars.Boolean, "VARCHAR": polars.String, "UUID": polars.String, "TIMESTAMP": polars.Datetime("us")}.get(kind)
        out = polars.DataFrame({n: self._column(i) for i, n in enumerate(self.names)}, schema=schema)
        out.attrs = dict(self.attrs)  # Polars has no place for it: frames made of this one lack it
        return out

    def _arrow(self) -> Any:
        pyarrow = _need("pyarrow")
        kinds = []
        for name, kind in zip(self.names, self.types):
            is_float = kind == "DOUBLE" or kind == "FLOAT" or kind.startswith("DECIMAL")
            arrow = pyarrow.int64() if _INT.match(kind) else pyarrow.float64() if is_float else {
                "BOOLEAN": pyarrow.bool_(), "TIMESTAMP": pyarrow.timestamp("us")}.get(kind, pyarrow.string())
            if kind.endswith("[]"):
                arrow = pyarrow.array([v for r in self.rows for v in (r[self.names.index(name)] or [])]).type
                arrow = pyarrow.list_(arrow)
            about = {"prof_unit": self.attrs["units"].get(name, ""), "prof_doc": self.attrs["docs"].get(name, "")}
            kinds.append(pyarrow.field(name, arrow, metadata=about))
        meta = {"prof_query": self.attrs["query"], "prof_notes": "\n".join(self.attrs["notes"])}
        arrays = [pyarrow.array(self._column(i), type=f.type) for i, f in enumerate(kinds)]
        return pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(kinds, metadata=meta))


class Warehouse:
    """A warehouse, open for reading. While it is open nothing else can write to the file: close it, or use it in a with statement."""

    def __init__(self, path: pathlib.Path, binary: Optional[str] = None) -> None:
        self.path, self.binary = path, binary
        try:
            self.db = duckdb.connect(str(path), read_only=True)
        except duckdb.IOException as e:
            hint = " (prof is writing to it: try again)" if "lock" in str(e) else ""
            raise Error(f"{path} cannot be opened{hint}: {e}") from e
        if path.with_name(path.name + ".undo").exists():
            self.db.close()
            raise Error(f"{path} was left in the middle of a write: any prof command, such as prof runs, repairs it")
        self._queries = {q.name: q for q in self._catalogue(versions=False)}
        if not self._queries:
            raise Error(f"{path} has no documented queries: let a prof of this module's version open it once, with prof runs")

    def __enter__(self) -> "Warehouse":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        self.db.close()

    def _catalogue(self, versions: bool) -> List[Query]:
        found = self.db.execute(
            """SELECT function_name, comment FROM duckdb_functions() WHERE NOT internal AND starts_with(comment, 'prof: ')
            UNION SELECT view_name, comment FROM duckdb_views() WHERE NOT internal AND starts_with(comment, 'prof: ') ORDER BY 1"""
        ).fetchall()
        out = []
        for relation, comment in found:
            q = _documented(comment)
            if q is not None and not relation.startswith("_") and (relation == _ident(q.name)) != versions:
                out.append(q)
        return out

    def queries(self) -> Dict[str, str]:
        """The queries and what each gives."""
        return {name: q.doc for name, q in sorted(self._queries.items())}

    def describe(self, name: str) -> Query:
        """A query with its options, columns and units; by name, or by name and version: top-kernels.v3."""
        want = name.replace("_", "-")
        if want in self._queries:
            return self._queries[want]
        base, dot, _ = want.partition(".v")
        if dot:
            for q in self._catalogue(versions=True):
                if f"{q.name}.v{q.version}" == want:
                    return q
        near = difflib.get_close_matches(base, self._queries, n=3)
        raise Error(f"no query {name!r}" + (f": did you mean {' or '.join(near)}?" if near else "; queries() lists them"))

    def units(self, name: str) -> Dict[str, str]:
        """The units of a query's columns. The numbers are in these units as they are: nanoseconds, bytes, FLOP, ratios from 0 to 1."""
        return dict(self.describe(name).units)

    def run_id(self, run: str) -> str:
        """The id of the run that a reference names: name, id, unique prefix, @latest, @latest~N, tag:key=value."""
        if _ID.fullmatch(run):
            return run
        return str(self._fetch(f"SELECT _run_id({_literal(run)}) AS run_id").rows[0][0])

    def runs(self, form: Optional[str] = None) -> Any:
        """All runs, newest first."""
        return self.query("runs", form=form)

    def query(self, name: str, /, run: Optional[str] = None, *, form: Optional[str] = None, **options: Any) -> Any:
        """The answer of a query as a frame (see Answer.to); options are those of prof query, with underscores. Without run, the newest.

        attrs has query, run_id, units and docs by column, caveats (dicts of a kind and figures) and notes (the same as text: in prof's words
        where the warehouse was opened with binary, else the kind and its figures).
        """
        return self.answer(name, run, **options).to(form)

    def answer(self, name: str, /, run: Optional[str] = None, **options: Any) -> Answer:
        """The same as plain rows, before they become a frame."""
        q = self.describe(name)
        unknown = [o for o in options if o not in q.options]
        if unknown or run is not None and not q.takes_run:
            raise Error(f"{q.name} takes no {(unknown or ['run'])[0]}; it takes {', '.join(q.options) or 'no options'}")
        options = {k: v for k, v in options.items() if v is not None}
        run_id = self.run_id(run or "@latest") if q.takes_run else None
        got = self._fetch(f"{self._selection(q, options)}FROM {_ident(q.name)}_v{q.version}{self._call(q.options, run_id, options)}")
        if not got.rows:
            self._known(q, run_id, options)
        caveats = self._caveats(q, run_id, options, got)
        notes = self._said(q, run_id, options) if self.binary else list(dict.fromkeys(_noted(c) for c in caveats))
        attrs = {
            "query": f"{q.name}.v{q.version}", "run_id": run_id, "notes": notes, "caveats": caveats,
            "units": {c: q.units[c] for c in got.names if c in q.units}, "docs": {c: q.columns[c] for c in got.names if c in q.columns},
        }
        return Answer(got.names, got.types, got.rows, attrs)

    def _known(self, q: Query, run_id: Optional[str], options: Dict[str, Any]) -> None:
        """Refuses a stage or GPU that the run does not have: an answer without rows would say that nothing happened there."""
        for option, table, column in (("stage", "stage_pass", "stage"), ("device", "device", "device_id")):
            asked = options.get(option)
            if run_id is None or option not in q.options or asked in (None, "(none)"):
                continue
            there = [r[0] for r in self._fetch(f"SELECT DISTINCT {column} FROM {table} WHERE run_id = {_literal(run_id)} ORDER BY 1").rows]
            if asked not in there:
                raise Error(f"the run has no {option} {asked!r}; it has {', '.join(map(str, there)) or 'none'}")

    def sql(self, text: str, form: Optional[str] = None) -> Any:
        """The answer of SQL of your own."""
        return self._fetch(text).to(form)

    @staticmethod
    def _selection(q: Query, options: Dict[str, Any]) -> str:
        left = [c for c, option in q.needs.items() if options.get(option) is not True]
        return f"SELECT * EXCLUDE ({', '.join(left)}) " if left else ""

    @staticmethod
    def _call(takes: Any, run_id: Optional[str], options: Dict[str, Any]) -> str:
        if not takes:
            return ""
        given = ([_literal(run_id)] if run_id is not None else []) + [f'"{k}" := {_literal(v)}' for k, v in options.items() if k in takes]
        return f"({', '.join(given)})"

    def _fetch(self, text: str) -> Answer:
        try:
            got = self.db.sql(text)
            if got is None:
                raise Error("not a question")
            types = [str(t) for t in got.types]
            rows = [tuple(_plain(v) for v in r) for r in got.fetchall()]
        except duckdb.Error as e:
            said = re.sub(r"^[\w ]+ Error: ", "", str(e))
            at = said.find("ARGUMENT: ")
            raise Error((said[at + len("ARGUMENT: "):] if at >= 0 else said).strip().split("\n")[0]) from e
        return Answer(list(got.columns), types, rows, {"query": "", "run_id": None, "notes": [], "caveats": [], "units": {}, "docs": {}})

    def _caveats(self, q: Query, run_id: Optional[str], options: Dict[str, Any], got: Answer) -> List[Dict[str, Any]]:
        out = []
        if "fault" in got.names:
            at = got.names.index("fault")
            out = [{"topic": "fault", "kind": r[at], "subject": str(r[0])} for r in got.rows if r[at] is not None]
        topics = q.topics if got.rows else q.topics_without_rows + q.topics
        if not topics or run_id is None:
            return out
        own = dict(self.db.execute(
            "SELECT function_name, parameters FROM duckdb_functions() WHERE NOT internal AND starts_with(function_name, '_caveat_')").fetchall())
        for topic in topics:
            macro = "_caveat_" + _ident(topic)
            if macro in own:
                taken = {k: v for k, v in options.items() if k in q.options}
                found = self._fetch(f"FROM {macro}{self._call(own[macro], run_id, taken)} ORDER BY ALL")
            else:
                holds = f"capture IS NULL OR capture = {_literal(options['source'])}" if "source" in options else "is_counted"
                found = self._fetch(f"""SELECT * EXCLUDE (run_id, capture, is_counted, topic) FROM caveat
                    WHERE run_id = {_literal(run_id)} AND topic = {_literal(topic)} AND ({holds}) ORDER BY ALL""")
            out += [{"topic": topic, **{k: v for k, v in zip(found.names, r) if v is not None}} for r in found.rows]
        return out

    def _said(self, q: Query, run_id: Optional[str], options: Dict[str, Any]) -> List[str]:
        command = [str(self.binary), "--home", str(self.path.parent), "query", f"{q.name}.v{q.version}", "--format", "json"]
        if run_id is not None:
            command += ["--run", run_id]
        for k, v in options.items():
            command.append(f"--{k.replace('_', '-')}={str(v).lower() if isinstance(v, bool) else v}")
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise Error(f"{' '.join(command[:5])}: {done.stderr.strip()}")
        return json.loads(done.stdout).get("notes", [])

    def plot(self, kind: str, /, run: Optional[str] = None, *, ax: Any = None, **options: Any) -> Any:
        """Draws "stages", "roofline" or "trend" by matplotlib and gives the axes; options are those of the query of that name."""
        draw = {"stages": _draw_stages, "roofline": _draw_roofline, "trend": _draw_trend}.get(kind)
        if draw is None:
            raise Error(f"no plot {kind!r}: stages, roofline or trend")
        got = self.answer(kind, run, **options)
        rows = [dict(zip(got.names, r)) for r in got.rows]
        if not rows:
            raise Error(f"{kind}: nothing to draw" + "".join(f"; {n}" for n in got.attrs["notes"]))
        if ax is None:
            _, ax = _need("matplotlib.pyplot").subplots(layout="constrained")
        draw(ax, rows, options)
        if kind == "trend":
            return ax
        name = self._fetch(f"SELECT name FROM run WHERE run_id = {_literal(got.attrs['run_id'])}").rows[0][0]
        ax.set_title(f"{kind} of {name}")
        return ax


def open(path: Any = None, *, binary: Optional[str] = None) -> Warehouse:  # noqa: A001 - as prof.open reads well
    """Opens a warehouse for reading: its file, the folder .prof, or a project. Without path, as prof does: PROF_HOME, else .prof of this
    folder or one above. With binary, the path or name of a prof command, notes are in its words; each query is then asked twice.
    """
    if path is None:
        path = os.environ.get("PROF_HOME") or next((d for d in (pathlib.Path.cwd(), *pathlib.Path.cwd().parents) if (d / ".prof").is_dir()), ".")
    path = pathlib.Path(path).expanduser()
    for file in (path, path / _FILE, path / ".prof" / _FILE):
        if file.is_file():
            return Warehouse(file.resolve(), binary)
    raise Error(f"no warehouse in {path}: prof ingest makes one")


def _documented(comment: str) -> Optional[Query]:
    head, *lines = comment.split("\n")
    title = re.fullmatch(r"prof: ([a-z0-9-]+) v([1-9]\d*): (.*)", head)
    if title is None:
        return None
    said: Dict[str, str] = {}
    options: Dict[str, str] = {}
    columns: Dict[str, str] = {}
    units: Dict[str, str] = {}
    needs: Dict[str, str] = {}
    into = None
    for line in lines:
        if not line.startswith("  "):
            key, _, value = line.partition(":")
            said[key], into = value.strip(), key
        elif into == "Options":
            key, _, value = line[2:].partition(": ")
            options[key] = value
        elif into == "Columns":
            m = re.fullmatch(r"  (\w+)(?: \(([^)]+)\))?(?: \[(\w+)\])?: (.*)", line)
            if m is None:
                raise Error(f"the comment of {title[1]} has the line {line!r}")
            columns[m[1]] = m[4]
            if m[2]:
                units[m[1]] = m[2]
            if m[3]:
                needs[m[1]] = m[3]
    if not columns:  # of a prof that wrote shorter comments
        return None
    return Query(title[1], int(title[2]), title[3], said.get("Grain", "").rstrip("."), said.get("Key", "").rstrip("."), tuple(said.get("Notes", "").split()),
                 tuple(said.get("Notes without rows", "").split()), options, columns, units, needs)


def _ident(name: str) -> str:
    return name.replace("-", "_")


def _literal(v: Any) -> str:
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, (int, float)):
        return repr(v)
    return "'" + str(v).replace("'", "''") + "'"


def _plain(v: Any) -> Any:
    if isinstance(v, decimal.Decimal):
        return float(v)
    return str(v) if isinstance(v, uuid.UUID) else v


def _noted(c: Dict[str, Any]) -> str:
    """A caveat without prof's words: its kind, whom it is about and its figures."""
    figures = [f"{k} {v}" for k, v in c.items() if k not in ("topic", "kind")]
    return c["kind"].replace("-", " ") + (f" ({', '.join(figures)})" if figures else "")


def _has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _need(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as e:
        package = module.partition(".")[0]
        raise Error(f"{package} is not installed: pip install {package}") from e


def _draw_stages(ax: Any, rows: List[Dict[str, Any]], _: Dict[str, Any]) -> None:
    """Bars of the mean GPU span of a pass, of which on one GPU the busy time in front; whiskers are one standard deviation."""
    named = set()

    def once(name: str) -> Optional[str]:
        """The name for the legend, for the first of its kind."""
        return None if name in named else named.add(name) or name

    for y, r in enumerate(rows):
        span, std = r["gpu_span_mean_ns"], r["gpu_span_std_ns"]
        if span is None:
            continue
        whisker = None if std is None else [[min(std, span) / 1e6], [std / 1e6]]
        ax.barh(y, span / 1e6, color="0.8", xerr=whisker, label=once("GPU span"))
        if r["busy_ratio"] is not None:
            ax.barh(y, r["gpu_busy_mean_ns"] / 1e6, color="tab:green", height=0.5, label=once("GPU busy"))
        if r["alone_median_ns"] is not None:
            ax.plot([r["alone_median_ns"] / 1e6], [y], "kd", label=once("without a profiler (median)"))
    ax.set_yticks(range(len(rows)), [r["stage"] for r in rows])
    ax.invert_yaxis()
    ax.set_xlabel("per pass (ms)")
    ax.legend()


def _draw_roofline(ax: Any, rows: List[Dict[str, Any]], _: Dict[str, Any]) -> None:
    """A point per profiled launch under the roofs of its precision, on logarithmic axes."""
    known = [r for r in rows if r["intensity"] and r["achieved_flop_per_s"]]
    if not known:
        raise Error("roofline: no launch has both FLOP and DRAM traffic")
    lowest, highest = min(r["intensity"] for r in known) / 4, max(max(r["intensity"], r["ridge"] or 0) for r in known) * 4
    for i, resource in enumerate(sorted({r["resource"] for r in known})):
        own = [r for r in known if r["resource"] == resource]
        color = f"C{i % 10}"
        ax.scatter([r["intensity"] for r in own], [r["achieved_flop_per_s"] / 1e12 for r in own], color=color, s=16, label=resource)
        roofs = {(r["roof_flop_per_s"], r["roof_bytes_per_s"]) for r in own if r["roof_flop_per_s"] and r["roof_bytes_per_s"]}
        for flop, size in roofs:
            xs = sorted({lowest, min(max(flop / size, lowest), highest), highest})
            ax.plot(xs, [min(flop, x * size) / 1e12 for x in xs], color=color, linewidth=1)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("arithmetic intensity (flop / DRAM byte)")
    ax.set_ylabel("TFLOP/s")
    ax.legend()


def _draw_trend(ax: Any, rows: List[Dict[str, Any]], options: Dict[str, Any]) -> None:
    """A line per stage over the runs in the order of their captures."""
    metric = options.get("metric") or "gpu_span_ns"
    scale, unit = (1e6, "ms") if metric.endswith("_ns") else (1, "")
    values = [r["value"] / scale for r in rows if r["value"] is not None]
    if not values:
        raise Error(f"trend: no run has {metric}")
    order: List[str] = list(dict.fromkeys(r["run_id"] for r in rows))
    names = {r["run_id"]: r["run"] for r in rows}
    for stage in dict.fromkeys(r["stage"] for r in rows):
        own = [r for r in rows if r["stage"] == stage and r["value"] is not None]
        ax.plot([order.index(r["run_id"]) for r in own], [r["value"] / scale for r in own], marker="o", label=stage)
    ax.set_xticks(range(len(order)), [names[i] for i in order], rotation=30, ha="right")
    ax.set_ylim(0, 1.15 * max(values) or 1)
    ax.set_ylabel(f"{metric[:-3] if unit else metric} ({unit})" if unit else metric)
    ax.set_title(f"trend of {metric}")
    ax.legend()
