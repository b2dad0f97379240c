package cli

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"prof/ingest"
	"prof/ingest/load"
	"prof/internal/exports"
	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
)

// extremeSeeds is the environment variable that makes TestExtremeValues try other seeds than 1, each format alone and whole columns too:
// EXTREME_SEEDS=1-50 go test ./internal/cli -run TestExtremeValues -timeout 3h
const extremeSeeds = "EXTREME_SEEDS"

// specimen makes files with extreme values in a folder.
type specimen func(r *rand.Rand, dir string) []string

// specimens are those of all formats, by a run that can hold them together and a name.
func specimens(t *testing.T) map[string]map[string]specimen {
	data := func(name string) []byte {
		if name = "../" + name; strings.HasSuffix(name, ".gz") {
			return unpacked(t, name)
		}
		return read(t, exported(t, name))
	}
	// text has extreme values in one of so many numbers.
	text := func(into, name string, others int, values ...string) specimen {
		values = append(values, extremeText...)
		return func(r *rand.Rand, dir string) []string {
			return []string{write(t, filepath.Join(dir, into), extremeTexts(r, data(name), others, values))}
		}
	}
	const nan, inf, minusInf = "nan", "inf", "-inf"
	runs := map[string]map[string]specimen{
		"torch": {
			"graph":          text("graph.trace.json", "torch/graph.trace.json.gz", 200),
			"train":          text("train.trace.json", "torch/train.trace.json.gz", 1000),
			"averages-json":  text("train.json", "torch/train.key_averages.json.gz", 500),
			"averages-csv":   text("train.csv", "torch/train.key_averages.csv.gz", 500),
			"averages-table": text("table.csv", "torch/train.shapes.key_averages.csv.gz", 500),
		},
		"ncu": {
			"raw":     text("ncu.csv", "ncu/pages/kernels.raw-base.csv", 20, nan, inf, minusInf),
			"details": text("details.csv", "ncu/pages/kernels.details-all.csv", 20, nan, inf, minusInf),
		},
		"facts": {
			"metrics":  text("metrics.json", "workload/metrics.json", 3),
			"workload": text("w.workload.json", "workload/dsocr-sdpa.workload.json", 50),
			"model":    text("config.json", "model/deepseek-ocr.config.json", 50),
		},
		"nsys":    {},
		"prof":    {},
		"capture": {},
	}
	for _, odd := range []string{"run.json", "env.json", "samples.csv"} { // of a folder that prof capture made
		runs["capture"][odd] = func(r *rand.Rand, dir string) []string {
			for _, name := range []string{"run.json", "env.json", "nsys/report-1.samples.csv", "nsys/report-2.samples.csv", "nsys/report-3.samples.csv"} {
				content := data("capture/llama/eager/" + name)
				if strings.HasSuffix(name, odd) {
					content = extremeTexts(r, content, 100, extremeText)
				}
				write(t, filepath.Join(dir, "eager", name), content)
			}
			for i := 1; i <= 3; i++ {
				name := fmt.Sprintf("report-%d.sqlite", i)
				write(t, filepath.Join(dir, "eager", "nsys", name), data("capture/llama/eager/nsys/"+name+".gz"))
			}
			return []string{filepath.Join(dir, "eager")}
		}
	}
	for _, name := range []string{"kernels-prefill", "kernels-range", "variants-apprange", "variants-graph"} {
		runs["ncu"][name] = func(r *rand.Rand, dir string) []string {
			return []string{write(t, filepath.Join(dir, name+".ncu-rep"), extremeReport(r, data("ncu/"+name+".ncu-rep.gz"), 40))}
		}
	}
	for _, name := range []string{kernels, node, graph, "emit-nvtx/emit-nvtx.sqlite.gz"} {
		for form, change := range map[string]func(r *rand.Rand, tables []*exports.Table){"some": extremeTables, "whole": extremeColumn, "long": longRows} {
			base := strings.TrimSuffix(filepath.Base(name), ".sqlite.gz")
			runs["nsys"][base+"-"+form] = func(r *rand.Rand, dir string) []string {
				tables, err := exports.ReadFile(exported(t, name))
				if err != nil {
					t.Fatal(err)
				}
				change(r, tables)
				return []string{sqliteFile(t, filepath.Join(dir, base+"-"+form+".sqlite"), tables)}
			}
			if name != kernels && name != node {
				continue
			}
			runs["prof"][base+"-"+form] = func(r *rand.Rand, dir string) []string {
				tables, err := exports.ReadFile(exported(t, name))
				if err != nil {
					t.Fatal(err)
				}
				change(r, tables)
				folder := filepath.Join(dir, base+"-"+form)
				if err := exports.WriteTraces(folder, exports.Traced(tables)); err != nil {
					t.Fatal(err)
				}
				return []string{folder}
			}
		}
	}
	return runs
}

// extremeSources make the specimens.
var extremeSources = []string{"internal/cli/extreme_test.go", "internal/cli/extreme_values_test.go", "internal/exports", "testdata/nsys/kernels", "testdata/nsys/variants-node", "testdata/nsys/variants-graph", "testdata/nsys/emit-nvtx",
	"testdata/torch/graph.trace.json.gz", "testdata/torch/train.key_averages.json.gz", "testdata/ncu/pages", "testdata/ncu/kernels-prefill.ncu-rep.gz", "testdata/ncu/kernels-range.ncu-rep.gz", "testdata/ncu/variants-graph.ncu-rep.gz", "testdata/capture/llama/eager", "testdata/workload", "testdata/model/deepseek-ocr.config.json"}

// together are the specimens of one seed in a minute's test: few runs, as asking everything of one takes a second or three. What is refused
// alone must not keep the others out.
var together = map[string][]string{
	"nsys":    {"nsys kernels-some", "nsys variants-node-some", "nsys variants-graph-some", "nsys emit-nvtx-some", "ncu raw", "ncu kernels-prefill", "ncu kernels-range", "ncu variants-graph", "facts metrics"},
	"prof":    {"prof kernels-some", "prof variants-node-some", "nsys emit-nvtx-long"},
	"torch":   {"torch graph", "torch averages-json"},
	"capture": {"capture samples.csv"},
}

// TestExtremeValues puts extreme values into the numbers of every format and asks every query, and show, explain, report and diff: a file is
// refused in plain words, or everything can be asked of it. Without -whole each query is asked of one run, and each run is shown or reported.
func TestExtremeValues(t *testing.T) {
	all := specimens(t)
	seeds := os.Getenv(extremeSeeds)
	if seeds == "" {
		stored := slices.Clone(filled)
		for _, run := range slices.Sorted(maps.Keys(together)) {
			stored = append(stored, testkit.Run{Name: run, Options: ingest.Options{Load: load.Options{WithOSRT: true}}, Sources: extremeSources, Make: func(dir string) (paths []string, err error) {
				for _, of := range together[run] {
					format, name, _ := strings.Cut(of, " ")
					paths = append(paths, all[format][name](rand.New(rand.NewPCG(1, 0)), dir)...)
				}
				return paths, nil
			}})
		}
		for _, name := range []string{"model", "workload"} {
			if p := newPlace(t); p.storeExtreme(t, "nsys", all["facts"][name](rand.New(rand.NewPCG(1, 0)), p.dir)...) {
				t.Errorf("the %s is not refused", name)
			}
		}
		p := reading(t, stored)
		for i, run := range stored[1:] {
			if run.Name != "capture" { // whose rows are as those of nsys
				p.askExtreme(t, run.Name, func(query int) bool { return *sample.Whole || query%9 == i%9 })
			}
			p.showExtreme(t, run.Name, func(verb string) bool { return *sample.Whole || i%2 == map[string]int{"show": 0, "report": 1}[verb] })
		}
		return
	}
	a, b, _ := strings.Cut(seeds, "-")
	first, err := strconv.ParseUint(a, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	last, err := strconv.ParseUint(b, 10, 64)
	if err != nil {
		last = first
	}
	asked, refused := 0, 0
	for seed := first; seed <= last; seed++ {
		for _, run := range slices.Sorted(maps.Keys(all)) {
			for _, name := range slices.Sorted(maps.Keys(all[run])) {
				p := newFilled(t) // some files are those of others in part
				run := fmt.Sprintf("%s-%s-%d", run, name, seed)
				if p.storeExtreme(t, run, all[strings.SplitN(run, "-", 2)[0]][name](rand.New(rand.NewPCG(seed, 0)), p.path("in-"+run))...) {
					p.askExtreme(t, run, func(int) bool { return true })
					p.showExtreme(t, run, func(string) bool { return true })
					asked++
				} else {
					refused++
				}
				p.settle()
			}
		}
		t.Logf("seed %d: so far %d runs asked, %d refused", seed, asked, refused)
	}
}

var errorOfDuckDB = regexp.MustCompile(`[A-Z][a-z]+ Error: `)

// isBroken reports whether an answer says what none may: an error of DuckDB's, or a panic.
func isBroken(text string) bool {
	for _, word := range []string{"internal error", "panic", "INTERNAL", "goroutine"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return strings.Contains(text, " Error: ") && errorOfDuckDB.MatchString(text)
}

// askedExtreme runs a verb on a run, which may fail in plain words where it is one of those.
func (p *place) askedExtreme(t *testing.T, run string, args ...string) result {
	t.Helper()
	r := p.run(args...)
	if isBroken(r.err) || isBroken(r.out) || r.code > 1 || r.code == 1 && args[0] != "query" && args[0] != "ingest" && args[0] != "diff" {
		t.Errorf("%s: prof %.300q: exit %d: %s", run, args, r.code, r.err[max(0, len(r.err)-600):])
	}
	return r
}

// storeExtreme stores files as a run; false means that they were refused.
func (p *place) storeExtreme(t *testing.T, run string, paths ...string) bool {
	t.Helper()
	r := p.askedExtreme(t, run, append([]string{"ingest", "--with-osrt", "--run", run}, paths...)...)
	if r.code == 1 {
		t.Logf("%s is refused: %.300s", run, r.err)
	}
	return r.code == 0
}

// showExtreme runs the verbs that judge a run, and those of the ones that show it that are wanted.
func (p *place) showExtreme(t *testing.T, run string, wanted func(verb string) bool) {
	t.Helper()
	for _, args := range [][]string{{"show", run}, {"explain", run}, {"report", run, "--out", "-"}, {"diff", "a", run}} {
		if verb := args[0]; verb != "show" && verb != "report" || wanted(verb) {
			p.askedExtreme(t, run, args...)
		}
	}
}

// askExtreme asks the queries that are wanted, by their number, of a run.
func (p *place) askExtreme(t *testing.T, run string, wanted func(query int) bool) {
	t.Helper()
	all, err := queries.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range all {
		if !wanted(i) {
			continue
		}
		args := []string{"query", q.Name, "--format", "json"}
		if q.Takes("run") {
			args = append(args, "--run", run)
		}
		p.askedExtreme(t, run, args...)
	}
}

// TestExtremeNumbers checks what becomes of values that no column holds: they are unknown, and a message says so.
func TestExtremeNumbers(t *testing.T) {
	t.Parallel()
	const work, copies, streams, gpus, starts = "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMSET", "TARGET_INFO_CUDA_STREAM", "TARGET_INFO_GPU",
		"TARGET_INFO_SESSION_START_TIME"
	tables, err := exports.ReadFile(exported(t, kernels))
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		table, column string
		value         int64
		asked, want   string // SQL, and its answer
		said          string
	}{
		{work, "gridX", 1 << 31, "SELECT count(*) FILTER (grid_x IS NULL) FROM kernels", "1", "grids, blocks, registers and shared memory of kernels: 4 values are out of range and are left unknown, such as 2147483648"},
		{work, "blockZ", -1, "SELECT count(*) FILTER (block_z IS NULL), min(block_z) FROM kernels", "1,1", ""},
		{work, "dynamicSharedMemory", 1<<31 - 1, "SELECT count(*) FILTER (shared_bytes IS NULL) FROM kernels", "1", ""},
		{work, "registersPerThread", 1 << 62, "SELECT count(*) FILTER (register_count IS NULL) FROM kernels", "1", ""},
		{work, "end", 1 << 62, "SELECT max(duration_ns) < 1e9 FROM kernel", "true", "2 rows end before they start, or are years off; 1 rows have numbers out of range"},
		{work, "start", 1<<63 - 1, "SELECT count(*) FROM kernel", "13", ""},
		{work, "streamId", 1 << 40, "SELECT max(stream_id) < 1000 FROM kernel", "true", ""},
		{work, "deviceId", 1 << 20, "SELECT count(*) FILTER (device_id = -1), max(device_id) FROM kernel", "1,0", "numbers of GPUs: 1 values"},
		{copies, "bytes", 1<<63 - 1, "SELECT count(*), count(*) FILTER (size_bytes IS NULL) FROM memop", "6,2", "bytes of copies and fills: 2 values"},
		{copies, "bytes", -1, "SELECT min(size_bytes) > 0 FROM memop", "true", ""},
		{streams, "contextId", 1 << 40, "SELECT count(*) FROM stream", "6", "contexts of streams: 1 values"},
		{starts, "utcEpochNs", -1 << 63, "SELECT started_at IS NULL FROM source", "true", "start of the capture: 1 values"},
		{gpus, "totalMemory", 1 << 62, "SELECT count(*) FILTER (memory_bytes IS NULL) FROM device", "1", "properties of GPUs: 1 values"},
	}
	for i, c := range cases {
		for _, x := range tables {
			if x.Name == c.table {
				x.Rows[i%len(x.Rows)][x.Column(c.column)] = c.value
			}
		}
	}
	p := newPlace(t)
	r := p.run("ingest", "--run", "x", sqliteFile(t, filepath.Join(p.dir, "in", "x.sqlite"), tables))
	if r.code != 0 {
		t.Fatalf("exit %d, %s", r.code, r.err)
	}
	diagnostics := p.sql("SELECT message FROM diagnostic WHERE origin = 'ingest' AND severity = 'warning'")
	for _, c := range cases {
		if !strings.Contains(r.err, c.said) || !strings.Contains(diagnostics, c.said) {
			t.Errorf("%s.%s = %d: want %q, the ingest says\n%s\nand stores\n%s", c.table, c.column, c.value, c.said, r.err, diagnostics)
		}
		if _, got, _ := strings.Cut(p.sql(c.asked), "\n"); strings.TrimSpace(got) != c.want {
			t.Errorf("%s.%s = %d: %s: %s, want %s", c.table, c.column, c.value, c.asked, got, c.want)
		}
	}
}

// TestExtremeTotal checks that a run whose times could overflow sums is refused, and nothing of it stored.
func TestExtremeTotal(t *testing.T) {
	t.Parallel()
	p := newFilled(t)
	before := counts(p)
	path := kernelRows(t, filepath.Join(p.dir, "in", "x.sqlite"), func(of *exports.Table) [][]any {
		for _, r := range of.Rows {
			r[of.Column("start")], r[of.Column("end")] = int64(0), int64(1<<56-1)
		}
		return slices.Concat(of.Rows, of.Rows)
	})
	r := p.run("ingest", "--run", "x", path)
	if r.code != 1 || !strings.Contains(r.err, "add up to more than 36 years") {
		t.Errorf("exit %d, %s", r.code, r.err)
	}
	if after := counts(p); after != before {
		t.Errorf("it left rows:\n%s\n%s", before, after)
	}
	if bytes.Contains([]byte(p.ok("runs")), []byte("x ")) {
		t.Error("the run is stored")
	}
}
