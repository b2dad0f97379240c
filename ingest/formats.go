package ingest

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"prof/ingest/load"
	"prof/ingest/manifest"
	"prof/ingest/model"
	"prof/ingest/ncu"
	"prof/ingest/ncu/page"
	"prof/ingest/nsys"
	"prof/ingest/nsys/parquet"
	"prof/ingest/nsys/stats"
	"prof/ingest/nsys/table"
	"prof/ingest/proton"
	"prof/ingest/reported"
	"prof/ingest/rocprof"
	"prof/ingest/serving"
	"prof/ingest/torch"
	"prof/ingest/torch/averages"
	"prof/ingest/tracer"
	"prof/ingest/workload"
	"prof/ingest/xla"
	"prof/schema/rundir"
)

// Format is one form of captured files.
type Format struct {
	Name string // as source.form
	Kind string // as source.kind
	Doc  string // for a message that lists what prof reads; "" where another form's says it
	// Sniff reports whether a file is of this form, by its lower-case name without .gz or .zst and its first bytes, unpacked.
	Sniff func(name string, head []byte) bool
	// GivesWayTo names the forms that hold the same capture better: beside one of them a file of this form is left out.
	GivesWayTo []string
	// Order places a file among others of one capture, lower first; of values that several hold, the first is kept. Nil: 0 for all.
	Order func(path string) int
	// Capture names the capture that a file is of: files of one are one source, which Load reads as a folder. Nil: each file is a source.
	Capture func(path string) string
	// Pattern is the path of a source of several files, of which one is given. Nil where Capture is.
	Pattern func(path string) string
	// IsOther returns why a file of a folder, not packed, which Sniff takes is of none of the forms. Nil: Sniff knows.
	IsOther func(path string) error
	// SniffDir reports whether a folder as a whole is of this form. Nil: never.
	SniffDir func(path string) bool
	// Unpacks reports whether Identify and Load read gzip files themselves, and what is whole of one that was cut; and whether Load
	// gives the content's SHA-256, so that it need not be read twice.
	Unpacks bool
	// MaxBytes bounds a file of this form, unpacked: what is read whole, or what no tool makes so large. 0: any size.
	MaxBytes int64
	// Facts reports whether a file of this form captured nothing, but describes a run: many runs may hold the same one, and it may
	// be stored with a run that is there already.
	Facts bool
	// Identify reads what the file says of the whole capture. name is the path for messages, path the file to read.
	Identify func(ctx context.Context, path, name string) (*load.SourceInfo, error)
	// Plan returns what Load would read, cheaply. Nil: only Load knows.
	Plan func(ctx context.Context, path string, o load.Options) (*load.Plan, error)
	// Work returns the device work of each process, to compare captures of one name. Nil: such are the same.
	Work func(ctx context.Context, path, name string) (map[int32]load.Work, error)
	// Growth is about how large the warehouse grows by a file, unpacked, as a share of it; 0 where that was not measured.
	Growth float64
	// Packing is how many times as large an export with the same records would be; 0 for once.
	Packing int64
	// Apart reports whether Load may store the file in a target apart, see store.Store.Apart.
	Apart bool
	// Spread reports whether several threads read the rows of a large file, each some of them.
	Spread bool
	// Leaves reports whether a file of a folder which Identify cannot read is left, with the reason: what it says is worth less than the captures next to it.
	Leaves bool
	// Load stores the file as the target's source.
	Load func(ctx context.Context, path, name string, t *load.Target) (*load.SourceInfo, error)
}

// Forms that are told apart by name.
const (
	reportForm   = "nsys-rep" // only nsys can read it
	gpuTraceForm = "nsys-gpu-trace"
	sumsForm     = "nsys-stats"
	configForm   = "hf-config"
	workloadForm = "workload"
	aloneForm    = "workload-alone"
	runForm      = "prof-run"
)

// exportGrowth is what nsys/variants-node and llama-graph-node of testdata differ in: 1.0 MB of the warehouse for 9.9 MB of the export.
const exportGrowth = 0.10

// traceGrowth is by how much more the warehouse grew for ten copies of llama-graph-node as traces than for one: 8.1 MB for 16.8 MB.
const traceGrowth = 0.48

// holdsAll are the forms that hold a timeline of Nsight Systems or prof's tracer: what nsys stats makes of it says nothing more in a run with one.
var holdsAll = []string{"sqlite", "parquetdir", reportForm, "prof-trace"}

// ofStats reports whether files of a form are what nsys stats makes of a timeline.
func ofStats(kind, form string) bool { return kind == stats.Kind || form == gpuTraceForm }

// workloadKind is the kind of sources that say what a workload did.
const workloadKind = "workload"

// Formats lists the known forms. Of several forms of one capture in a folder, the earlier in this list is taken.
func Formats() []Format {
	sqlite, tables := nsys.Opener(nsys.SQLite), nsys.Opener(openParquet)
	return append([]Format{
		{
			Name: "sqlite", Kind: "nsys", Doc: "Nsight Systems exports (.sqlite)",
			Sniff: func(_ string, head []byte) bool {
				return bytes.HasPrefix(head, []byte("SQLite format 3\x00")) && !rocprof.SniffRocpd(head) && !isEvalScope(head)
			},
			IsOther:  nsys.IsOthers,
			Identify: sqlite.Identify, Plan: sqlite.Plan, Growth: exportGrowth, Apart: true, Spread: true, Load: sqlite.Load, Work: sqlite.Work,
		},
		{
			Name: "parquetdir", Kind: "nsys", Doc: "Nsight Systems parquetdir exports (folders)",
			SniffDir: parquet.Is,
			Identify: tables.Identify, Plan: tables.Plan, Spread: true, Load: tables.Load, Work: tables.Work,
		},
		{
			Name: reportForm, Kind: "nsys", Doc: "Nsight Systems reports (.nsys-rep, .qdrep), if nsys is installed",
			Sniff: func(name string, _ []byte) bool {
				return strings.HasSuffix(name, ".nsys-rep") || strings.HasSuffix(name, ".qdrep")
			},
			GivesWayTo: []string{"sqlite", "parquetdir"},
			Identify:   nsys.IdentifyReport, Spread: true, Load: nsys.LoadReport,
		},
		{
			Name: "prof-trace", Kind: rundir.ToolProf, Doc: "traces of prof's own tracer (.proftrace, or folders of them)",
			Sniff: tracer.Sniff, SniffDir: tracer.IsFolder,
			Identify: tracer.Identify, Plan: tracer.Plan, Growth: traceGrowth, Packing: 4, Apart: true, Spread: true, Load: tracer.Load, Work: tracer.Work,
		},
		{
			Name: gpuTraceForm, Kind: "nsys", Doc: "CSV files of nsys stats --report cuda_gpu_trace", MaxBytes: stats.MaxBytes,
			Sniff:    stats.SniffTrace,
			Identify: stats.Identify, Apart: true, Load: stats.LoadTrace,
		},
		{
			Name: sumsForm, Kind: stats.Kind, Doc: "CSV files of nsys stats (_sum reports), and what it prints with --format csv", MaxBytes: stats.MaxBytes,
			Sniff: stats.Sniff, Capture: stats.Capture, Pattern: stats.Pattern,
			Identify: stats.Identify, Load: stats.Load,
		},
		{
			Name: "nsys-recipe", Kind: stats.Kind, Doc: "folders of nsys recipe cuda_gpu_kern_sum",
			SniffDir: stats.IsRecipe,
			Identify: stats.Identify, Load: stats.Recipe(openParquet).Load,
		},
		{
			Name: "ncu-rep", Kind: "ncu", Doc: "Nsight Compute reports (.ncu-rep)",
			MaxBytes: ncu.MaxReport,
			Sniff:    func(_ string, head []byte) bool { return ncu.SniffReport(head) },
			Identify: ncu.IdentifyReport, Load: ncu.LoadReport,
		},
		{
			Name: "ncu-csv", Kind: "ncu", Doc: "CSV pages and console output of Nsight Compute (raw, details)",
			Sniff:      page.Sniff,
			GivesWayTo: []string{"ncu-rep"},
			Order:      page.Order,
			Identify:   page.Identify, Load: page.Load,
		},
		{
			Name: "rocprof-json", Kind: "rocprof", Doc: "rocprofv3 traces (JSON)",
			Sniff:    func(_ string, head []byte) bool { return rocprof.SniffJSON(head) },
			Identify: rocprof.IdentifyJSON, Apart: true, Load: rocprof.LoadJSON,
		},
		{
			Name: "rocpd", Kind: "rocprof", Doc: "rocprofv3 databases (rocpd, .db)",
			Sniff:      func(_ string, head []byte) bool { return rocprof.SniffRocpd(head) },
			GivesWayTo: []string{"rocprof-json"},
			Identify:   rocprof.IdentifyRocpd, Apart: true, Load: rocprof.LoadRocpd,
		},
		{
			Name: "rocprof-csv", Kind: "rocprof", Doc: "CSV traces of rocprofv3 and rocprof (kernels, copies, API calls, markers)",
			Sniff:      func(_ string, head []byte) bool { return rocprof.SniffCSV(head) },
			GivesWayTo: []string{"rocprof-json", "rocpd"},
			Capture:    rocprof.Capture, Pattern: rocprof.Pattern,
			Identify: rocprof.IdentifyCSV, Apart: true, Load: rocprof.LoadCSV,
		},
		{
			Name: "xplane", Kind: "xla", Doc: "XLA and JAX profiles of GPUs (.xplane.pb)", MaxBytes: xla.MaxBytes,
			Sniff:    xla.Sniff,
			Identify: xla.Identify, Apart: true, Load: xla.Load,
		},
		{
			Name: "proton-trace", Kind: "proton", Doc: "traces of Proton, Triton's profiler (.chrome_trace)",
			Sniff:    func(_ string, head []byte) bool { return proton.SniffTrace(head) },
			Identify: proton.Identify, Apart: true, Load: proton.LoadTrace,
		},
		{
			Name: "proton-tree", Kind: proton.TreeKind, Doc: "trees of Proton (.hatchet)", MaxBytes: proton.MaxTree,
			Sniff:    func(_ string, head []byte) bool { return proton.SniffTree(head) },
			Identify: proton.Identify, Load: proton.LoadTree,
		},
		{
			Name: "torch-trace", Kind: "torch", Doc: "PyTorch profiler traces (.json)",
			Sniff: func(name string, head []byte) bool {
				return torch.Sniff(name, head) && !rocprof.IsOldResults(head) && !proton.SniffTrace(head)
			},
			Unpacks:  true,
			Identify: torch.Identify, Apart: true, Load: torch.Load,
		},
		{
			Name: "torch-averages", Kind: "torch", Doc: "PyTorch key_averages() tables (JSON, CSV, Markdown, or as printed)",
			Sniff:    averages.Sniff,
			Leaves:   true,
			Identify: averages.Identify, Load: averages.Load,
		},
		{
			Name: configForm, Kind: "model", Doc: "model configurations (Hugging Face config.json)", Facts: true, MaxBytes: model.MaxBytes,
			Sniff:    model.Sniff,
			Identify: model.Identify, Load: model.Load,
		},
		{
			Name: workloadForm, Kind: workloadKind, Doc: "workload facts (workload.json, metrics.json)", Facts: true, MaxBytes: workload.MaxBytes,
			Sniff:    workload.Sniff,
			Identify: workload.Identify, Load: workload.Load,
		},
		{
			Name: aloneForm, Kind: "baseline", Doc: "the workload's own times without a profiler (baseline.json)", Facts: true, MaxBytes: workload.MaxBytes,
			Sniff:    workload.SniffAlone,
			Leaves:   true,
			Identify: workload.IdentifyAlone, Load: workload.LoadAlone,
		},
		{
			Name: runForm, Kind: "capture", Doc: "folders made by prof capture (run.json)", Facts: true, MaxBytes: rundir.MaxManifest,
			Sniff:    manifest.Sniff,
			Identify: manifest.Identify, Load: manifest.Load,
		},
	}, slices.Concat(servingFormats(), reportedFormats())...)
}

func openParquet(path string) (table.Export, error) { return parquet.Open(path) }

// servingKind is the kind of sources that say what a load generator measured of a serving engine.
const servingKind = "serving"

// IsBenchmark reports whether a file is a result of a load generator that can be read, by its name and its beginning.
func IsBenchmark(path string) bool {
	f, ok, err := sniff(path, path)
	return err == nil && ok && f.format.Kind == servingKind
}

// servingFormats are the forms of these, which a message lists as one.
func servingFormats() (out []Format) {
	for i, f := range serving.Forms() {
		doc := ""
		if i == 0 {
			doc = "results of load generators (vllm bench serve, SGLang bench_serving, genai-perf, aiperf, trtllm-bench, MLPerf LoadGen, GuideLLM, inference-perf, genai-bench, EvalScope, LLMPerf, vllm bench latency and throughput, reports of llm-d)"
		}
		out = append(out, Format{Name: f.Name, Kind: servingKind, Doc: doc, Facts: true, Leaves: true, MaxBytes: f.MaxBytes, Sniff: f.Sniff, Identify: f.Identify, Load: f.Load})
	}
	return out
}

// reportedKind is the kind of sources that say what other tools reported of a run.
const reportedKind = "reported"

// reportedFormats are the forms of these, which a message lists as one. They come last: what a file says for itself goes before.
func reportedFormats() (out []Format) {
	for i, f := range reported.Forms() {
		doc := ""
		if i == 0 {
			doc = "what other tools reported of a run (env.json, inputs.yaml, static_compute.json, ...)"
		}
		out = append(out, Format{Name: f.Name, Kind: reportedKind, Doc: doc, Facts: true, Leaves: true, MaxBytes: reported.MaxBytes, Sniff: f.Sniff, Identify: f.Identify, Load: f.Load})
	}
	return out
}

func (f Format) order() int {
	return slices.IndexFunc(Formats(), func(g Format) bool { return g.Name == f.Name })
}
