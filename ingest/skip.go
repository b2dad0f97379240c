package ingest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"prof/ingest/rocprof"
	"prof/schema/pack"
)

// Skip is a file of a folder that is not read, and why.
type Skip struct{ Path, Why string }

// IsOther reports whether nothing speaks for the file to be a capture or made of one.
func (s Skip) IsOther() bool { return s.Why == ErrUnknownFormat.Error() }

// pictures are ends of names of files that show to people what others hold.
var pictures = []string{".png", ".svg", ".jpg", ".jpeg", ".gif", ".pdf", ".dot", ".mmd"}

// reportHeads begin reports for people, prof's own and those of the first implementation; their figures are those of the files next to them.
var reportHeads = []string{"# Stakeholder Summary", "# Stage 1 Profiling Report", "# Deep Profiling Report", "# Static Compute", "# Operator Summary", "# Kernel Summary", "# Assumptions", "# TorchInfo", "# Run ", "<!DOCTYPE html", "<!doctype html"}

// otherForms are forms of captures that prof knows and does not read, and what to give it in their place.
var otherForms = []struct {
	is   func(name string, head []byte) bool // head without blanks before it
	what string
}{
	{func(_ string, head []byte) bool { return pack.Begins(head) }, "it is a file of prof pack, which is ingested by itself: prof ingest FILE"},
	{begin("\x89HDF\r\n"), "it is HDF5, which prof does not read: nsys export --type sqlite (or parquetdir)"},
	{func(_ string, head []byte) bool {
		return bytes.HasPrefix(head, []byte(`{"Type":`)) || bytes.HasPrefix(head, []byte(`{"data":["`)) && bytes.Contains(head, []byte(`"[NSys]"`))
	}, "it is JSON of nsys export, which has neither the GPUs nor the start of the session: nsys export --type sqlite"},
	{func(_ string, head []byte) bool {
		return bytes.HasPrefix(head, []byte(`data: "`)) && bytes.Contains(head, []byte(`data: "[NSys]"`))
	}, "it is text of nsys export, which has neither the GPUs nor the start of the session: nsys export --type sqlite"},
	{func(_ string, head []byte) bool { return len(head) > 12 && string(head[8:12]) == "DUCK" }, "it is a DuckDB database: give the export that it was made of"},
	{func(_ string, head []byte) bool {
		return bytes.HasPrefix(head, []byte("ARROW1")) || bytes.HasPrefix(head, []byte{0xff, 0xff, 0xff, 0xff}) && bytes.Contains(head, []byte("table_name"))
	}, "it is Arrow, which prof does not read: nsys export --type parquetdir (or sqlite)"},
	{begin("PAR1"), "it is a Parquet file: prof reads folders of them, of nsys export --type parquetdir and nsys recipe cuda_gpu_kern_sum"},
	{func(_ string, head []byte) bool { return rocprof.IsOldResults(head) }, "it is results.json of rocprof 1 or 2, which does not say which calls launched its kernels, and may have kernels and copies twice: give results.csv next to it, or traces of rocprofv3"},
	{holds(`"TotalDurationNs"`, "TotalDurationNs,"), "it has sums of rocprof, which prof does not read: give the traces next to it (kernel_trace.csv, hip_api_trace.csv, or rocprofv3 --output-format json)"},
	{holds(`"Counter_Name"`), "it has counters of rocprofv3, with a row for each of them and no timeline of its own: give the traces (kernel_trace.csv)"},
	{holds(`"Logical_Node_Id"`), "it describes the machine of a rocprofv3 trace: give rocprofv3 --output-format json, which has both"},
	{holds("CorrID,Pid,Tid", "CorrId,Pid,Tid"), "it lists the API calls of nsys stats (cuda_api_trace) without the GPU's work: give the report's export (nsys export --type sqlite), or its cuda_gpu_trace"},
	{jsonOf("benchmark_version", "experiment_folder_name"), "it says how genai-bench made its results, and is read with the JSON of a scenario next to it: give that file"},
	{jsonOf("outputs_dir", "no_test_connection"), "it says how EvalScope made its results, and is read with benchmark_summary.json next to it: give that file"},
	{func(_ string, head []byte) bool {
		return bytes.HasPrefix(head, []byte("[")) && bytes.Contains(head, []byte(`"Percentiles"`))
	}, "it has the percentiles of EvalScope, and is read with benchmark_summary.json next to it: give that file"},
	{jsonOf("n_samples", "warmup_frac"), "it has how EvalScope's throughput went: give benchmark_summary.json next to it"},
	{jsonOf("wall_start", "cum_completion"), "it has how EvalScope's throughput went: give benchmark_summary.json next to it"},
	{func(_ string, head []byte) bool { return isEvalScope(head) }, "it is EvalScope's database, whose answers only Python can read: give benchmark_summary.json next to it"},
	{holds("Run Info,"), "it is GuideLLM's table: give its JSON (--output-path benchmarks.json)"},
	{func(_ string, head []byte) bool {
		return bytes.HasPrefix(head, []byte("metrics:")) && bytes.Contains(head, []byte("\n  latency:")) || bytes.Contains(head, []byte("\nversion: '0.1'"))
	}, "it is a benchmark report of llm-d of version 0.1: give one of 0.2, or the load generator's own result"},
	{ends(".pftrace", ".perfetto-trace"), "it is a Perfetto trace, which prof does not read: rocprofv3 --output-format json (or rocpd, csv)"},
	{ends(".pickle", ".pkl"), "it is a pickle, such as PyTorch's snapshots of memory, which only Python can read: export a trace (export_chrome_trace)"},
	{ends(".ncu-proj", ".nsys-proj"), "it is a project of Nsight, without results: give the report"},
	{ends(".qdstrm"), "it is a raw stream of Nsight Systems: make a report of it with QdstrmImporter, then nsys export --type sqlite"},
	{ends(".et.json", "_et.json"), "it is an execution trace (Chakra), without times: give the profiler's trace next to it"},
}

// isEvalScope reports whether a database is EvalScope's, by the schema that SQLite's first page has.
func isEvalScope(head []byte) bool {
	return bytes.Contains(head, []byte("CREATE TABLE result(")) && bytes.Contains(head, []byte("first_chunk_latency"))
}

func begin(mark string) func(string, []byte) bool {
	return func(_ string, head []byte) bool { return bytes.HasPrefix(head, []byte(mark)) }
}

// holds reports whether the first line holds a column.
func holds(columns ...string) func(string, []byte) bool {
	return func(_ string, head []byte) bool {
		line, _, _ := bytes.Cut(head, []byte("\n"))
		return slices.ContainsFunc(columns, func(c string) bool { return bytes.Contains(line, []byte(c)) })
	}
}

// jsonOf reports whether an object begins with members of these names among them.
func jsonOf(members ...string) func(string, []byte) bool {
	return func(_ string, head []byte) bool {
		return bytes.HasPrefix(head, []byte("{")) && !slices.ContainsFunc(members, func(m string) bool { return !bytes.Contains(head, []byte(`"`+m+`"`)) })
	}
}

func ends(with ...string) func(string, []byte) bool {
	return func(name string, _ []byte) bool {
		return slices.ContainsFunc(with, func(end string) bool { return strings.HasSuffix(name, end) })
	}
}

// toUnpack is what to do with an archive of captures.
const toUnpack = "it is an archive: unpack it first"

// isArchive reports whether a file holds others, by its name.
func isArchive(path string) bool {
	return ends(".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tar.zst", ".zip", ".7z")(strings.ToLower(path), nil)
}

// whyUnread returns why a file of a known form is not read; "" for every other.
func whyUnread(path string, head []byte) string {
	name := withoutPacking(strings.ToLower(filepath.Base(path)))
	for _, u := range otherForms {
		if u.is(name, head) {
			return u.what
		}
	}
	return ""
}

// otherFolders are folders of captures that prof knows and does not read, by files that they have, and what to give in their place.
var otherFolders = []struct {
	files []string
	what  string
}{
	{[]string{"META_DATA_EXPORT.arrow"}, "it is an arrowdir export, which prof does not read: nsys export --type parquetdir (or sqlite)"},
	{[]string{".cache_version", "string_ids.parquet"}, "it is what nsys-ai keeps of an export: give the export itself (nsys export --type sqlite)"},
}

// whyFolderUnread returns why a folder of a known form is not read; "" for every other.
func whyFolderUnread(path string) string {
	for _, u := range otherFolders {
		if !slices.ContainsFunc(u.files, func(name string) bool { _, err := os.Stat(filepath.Join(path, name)); return err != nil }) {
			return u.what
		}
	}
	return ""
}

// whySkipped returns why no format knows a file.
func whySkipped(path string) string {
	head, _, err := readHead(path)
	st, statErr := os.Stat(path)
	text := bytes.TrimSpace(head)
	begins := func(mark string) bool { return bytes.HasPrefix(text, []byte(mark)) }
	switch {
	case err != nil:
		return strings.TrimPrefix(err.Error(), path+": ")
	case statErr == nil && st.Size() == 0:
		return "it is empty"
	case isArchive(path):
		return toUnpack
	case cutFile(path) != plainFile:
		return "it is cut short"
	case slices.Contains(pictures, strings.ToLower(filepath.Ext(path))):
		return "it is a picture"
	case slices.ContainsFunc(reportHeads, begins):
		return "it is a report for people, of figures that other files hold"
	case begins("# How the run was captured") || begins("# What the workload was given") || begins("{") && bytes.Contains(text, []byte(`"missing"`)) && bytes.Contains(text, []byte(`"prof_version"`)):
		return "prof report wrote it from what a warehouse holds"
	case whyUnread(path, text) != "":
		return whyUnread(path, text)
	case begins("kernel_id,"):
		return "another tool computed it from the pages of Nsight Compute next to it"
	case strings.HasSuffix(path, ".log"):
		return "it is a log"
	}
	return ErrUnknownFormat.Error()
}
