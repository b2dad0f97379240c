"""Tests of prof.py, which TestPython at the root of the repository runs: it lays a warehouse and prof's own answers to every query of it into PROF_TEST_HOME."""

import datetime
import json
import math
import os
import pathlib
import unittest
import warnings

import prof

HOME = os.environ.get("PROF_TEST_HOME")


def cell(v):
    """A value as prof writes it into JSON."""
    if isinstance(v, (list, dict)):
        return json.loads(json.dumps(v))
    if isinstance(v, datetime.datetime):
        return v.strftime("%Y-%m-%d %H:%M:%S.%f").rstrip("0").rstrip(".")
    return v if v is None or isinstance(v, (bool, int, float)) else str(v)


def same(got, want):
    if isinstance(got, list) and isinstance(want, str):
        want = json.loads(want)
    if isinstance(got, float) and isinstance(want, (int, float)):
        return math.isclose(got, want, rel_tol=1e-9, abs_tol=1e-300)
    return got == want


@unittest.skipUnless(HOME, "go test -run TestPython . runs these")
class TestProf(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.w = prof.open(HOME)
        cls.answers = json.loads(pathlib.Path(HOME, "answers.json").read_text())
        cls.got = [cls.w.answer(a["query"], a["run"] or None) for a in cls.answers]

    @classmethod
    def tearDownClass(cls):
        cls.w.close()

    def test_answers(self):
        """Each query gives the cells, units, docs and caveats that prof gives."""
        self.assertEqual({a["query"] for a in self.answers}, set(self.w.queries()))
        for want, got in zip(self.answers, self.got):
            with self.subTest(want["query"], run=want["run"]):
                self.assertEqual(got.names, [c["name"] for c in want["columns"]])
                self.assertEqual(got.attrs["units"], {c["name"]: c["unit"] for c in want["columns"] if c["unit"]})
                self.assertEqual(got.attrs["docs"], {c["name"]: c["doc"] for c in want["columns"]})
                self.assertEqual(len(got.rows), len(want["rows"] or []))
                for r, row in zip(got.rows, want["rows"] or []):
                    for name, a, b in zip(got.names, r, row):
                        self.assertTrue(same(cell(a), b), f"{name}: {a!r}, not {b!r}")
                self.assertEqual([(c["topic"], c["kind"], c.get("subject", "")) for c in got.attrs["caveats"]], [tuple(c) for c in want["caveats"] or []])

    def test_views(self):
        """The relations for SQL of one's own can be read."""
        names = [r["view_name"] for r in self.w.sql("SELECT view_name FROM duckdb_views() WHERE NOT internal", form="rows")]
        self.assertGreater(len(names), 3)
        for name in names:
            self.w.sql(f"FROM {name} LIMIT 3", form="rows")

    def test_options(self):
        rows = self.w.query("top-kernels", "a", top=1, by="short", form="rows")
        self.assertEqual(len(rows), 1)
        self.assertNotIn("bound", rows[0])
        self.assertIn("bound", self.w.query("top_kernels", "a", with_ncu=True, form="rows")[0])
        self.assertEqual(rows, self.w.query("top-kernels.v3", self.w.run_id("a"), top=1, by="short", form="rows"))
        self.assertEqual(rows.attrs["units"]["total_ns"], "ns")

    def test_mistakes(self):
        for ask, says in (
            (lambda: self.w.query("top-kernel"), "did you mean top-kernels"),
            (lambda: self.w.query("top-kernels", "nosuch"), "^no run, or more than one: nosuch$"),
            (lambda: self.w.query("top-kernels", "a'; DROP TABLE run"), "no run"),
            (lambda: self.w.query("top-kernels", stages="x"), "takes no stages; it takes run, top"),
            (lambda: self.w.query("runs", "a"), "takes no run"),
            (lambda: self.w.query("top-kernels", by="x"), "^--by is name, short or family$"),
            (lambda: self.w.query("stages", form="spark"), "no form"),
            (lambda: self.w.query("top-kernels", "a", stage="nix"), "^the run has no stage 'nix'; it has "),
            (lambda: self.w.query("top-kernels", "a", device=-5), "^the run has no device -5; it has 0"),
            (lambda: self.w.plot("pie", "a"), "stages, roofline or trend"),
            (lambda: self.w.plot("roofline", "b"), "nothing to draw"),
            (lambda: prof.open(pathlib.Path(HOME, "nowhere")), "prof ingest makes one"),
        ):
            with self.subTest(says), self.assertRaisesRegex(prof.Error, says):
                ask()

    def test_words(self):
        """With a binary the notes are in prof's words."""
        with prof.open(HOME, binary=os.environ["PROF_TEST_BINARY"]) as w:
            for want in self.answers:
                if want["query"] in ("mfu", "top-kernels"):
                    notes = w.answer(want["query"], want["run"]).attrs["notes"]
                    self.assertEqual(notes, want["notes"] or [])
        self.assertTrue(self.w.answer("mfu", "b").attrs["notes"])

    def test_pandas(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        for got in self.got:
            self.assertEqual(got.to("pandas").shape, (len(got.rows), len(got.names)))
        frame = self.w.query("passes", "a", form="pandas")
        self.assertEqual(frame.attrs["units"]["gpu_span_ns"], "ns")
        numbers = prof.Answer(["n"], ["BIGINT"], [(2**53 + 1,), (None,)], {}).to("pandas")["n"]
        self.assertEqual((str(numbers.dtype), numbers[0]), ("Int64", 2**53 + 1))

    def test_polars(self):
        try:
            import polars
        except ImportError:
            self.skipTest("polars is not installed")
        for got in self.got:
            self.assertEqual(got.to("polars").shape, (len(got.rows), len(got.names)))
        self.assertEqual(self.w.query("passes", "a", form="polars").attrs["units"]["gpu_span_ns"], "ns")

    def test_arrow(self):
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            self.skipTest("pyarrow is not installed")
        for got in self.got:
            self.assertEqual(got.to("arrow").shape, (len(got.rows), len(got.names)))
        table = self.w.query("passes", "a", form="arrow")
        self.assertEqual(table.schema.field("gpu_span_ns").metadata[b"prof_unit"], b"ns")
        self.assertEqual(table.schema.metadata[b"prof_query"].split(b".")[0], b"passes")

    def test_plots(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("matplotlib is not installed")
        matplotlib.use("Agg")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ax = self.w.plot("stages", "a")
            stages = self.w.query("stages", "a", form="rows")
            self.assertEqual([t.get_text() for t in ax.get_yticklabels()], [s["stage"] for s in stages])
            widths = [p.get_width() for p in ax.patches]
            for s in stages:
                self.assertIn(s["gpu_span_mean_ns"] / 1e6, widths)
            ax = self.w.plot("trend", workload="a")
            self.assertTrue(ax.get_lines())
            ax = self.w.plot("roofline", "a")
            points = sum(len(c.get_offsets()) for c in ax.collections)
            self.assertEqual(points, sum(1 for r in self.w.query("roofline", "a", form="rows") if r["intensity"]))
            with self.assertRaisesRegex(prof.Error, "no run has tokens_per_s"):
                self.w.plot("trend", workload="a", metric="tokens_per_s")
            out = os.environ.get("PROF_TEST_PLOTS")
            if out:
                for kind, args in (("stages", {"run": "a"}), ("roofline", {"run": "a"}), ("trend", {"workload": "a"})):
                    self.w.plot(kind, **args).figure.savefig(os.path.join(out, kind + ".png"))


if __name__ == "__main__":
    unittest.main()
