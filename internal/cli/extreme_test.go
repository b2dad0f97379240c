package cli

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"prof/queries"
	"prof/testdata/exports"
)

// extremeSeeds is the environment variable that makes TestExtremeValues try more seeds: FIRST-LAST, or one.
const extremeSeeds = "EXTREME_SEEDS"

// extremeRuns make the runs of TestExtremeValues: each the files that one ingest stores, with extreme values.
func extremeRuns(t *testing.T) map[string]func(r *rand.Rand, dir string) []string {
	data := func(name string) []byte {
		name = "../" + name
		if strings.HasSuffix(name, ".gz") {
			return unpacked(t, name)
		}
		return read(t, exported(t, name))
	}
	text := func(into, name string, others int, values ...string) func(r *rand.Rand, dir string) []string {
		values = append(values, extremeText...)
		return func(r *rand.Rand, dir string) []string {
			return []string{write(t, filepath.Join(dir, into), extremeTexts(r, data(name), others, values))}
		}
	}
	const nan, inf, minusInf = "nan", "inf", "-inf"
	runs := map[string]func(r *rand.Rand, dir string) []string{
		"trace-graph":    text("graph.trace.json", "torch/graph.trace.json.gz", 40),
		"trace-train":    text("train.trace.json", "torch/train.trace.json.gz", 200),
		"averages-json":  text("train.json", "torch/train.key_averages.json.gz", 100),
		"averages-csv":   text("train.csv", "torch/train.key_averages.csv.gz", 50),
		"averages-table": text("table.csv", "torch/train.shapes.key_averages.csv.gz", 50),
		"ncu-csv":        text("ncu.csv", "ncu/pages/kernels.raw-base.csv", 20, nan, inf, minusInf),
		"ncu-details":    text("details.csv", "ncu/pages/kernels.details-all.csv", 20, nan, inf, minusInf),
		"workload":       text("w.workload.json", "workload/dsocr-sdpa.workload.json", 50),
		"metrics":        text("metrics.json", "workload/metrics.json", 3),
		"model":          text("config.json", "model/deepseek-ocr.config.json", 50),
	}
	for _, name := range []string{"kernels-prefill", "kernels-range", "variants-apprange", "variants-graph"} {
		runs["ncu-"+name] = func(r *rand.Rand, dir string) []string {
			return []string{write(t, filepath.Join(dir, name+".ncu-rep"), extremeReport(r, data("ncu/"+name+".ncu-rep.gz"), 40))}
		}
	}
	for _, name := range []string{kernels, node, graph, "emit-nvtx/emit-nvtx.sqlite.gz"} {
		runs["nsys-"+filepath.Dir(name)] = func(r *rand.Rand, dir string) []string {
			tables, err := exports.ReadFile(exported(t, name))
			if err != nil {
				t.Fatal(err)
			}
			extremeTables(r, tables, "")
			return []string{sqliteFile(t, filepath.Join(dir, "x.sqlite"), tables)}
		}
	}
	return runs
}

// broken matches what no answer may say: an error of DuckDB's, or a panic.
var broken = regexp.MustCompile(`[A-Z][a-z]+ Error: |internal error|panic|INTERNAL|goroutine`)

func (p *place) whole(what string, args ...string) {
	p.t.Helper()
	if r := p.run(args...); broken.MatchString(r.err) || broken.MatchString(r.out) || r.code > 1 && args[0] != "query" {
		p.t.Errorf("%s: prof %q: exit %d: %.600s", what, args, r.code, r.err)
	}
}

func TestExtremeValues(t *testing.T) {
	all, err := queries.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	first, last := uint64(1), uint64(1)
	if s := os.Getenv(extremeSeeds); s != "" {
		a, b, _ := strings.Cut(s, "-")
		first, _ = strconv.ParseUint(a, 10, 64)
		if last, _ = strconv.ParseUint(b, 10, 64); last < first {
			last = first
		}
	}
	only := regexp.MustCompile(os.Getenv("EXTREME_ONLY"))
	for seed := first; seed <= last; seed++ {
		p := newFilled(t)
		for name, files := range extremeRuns(t) {
			if !only.MatchString(name) {
				continue
			}
			what := fmt.Sprintf("%s, seed %d", name, seed)
			if os.Getenv("EXTREME_SAY") != "" {
				fmt.Fprintln(os.Stderr, what, time.Now().Format("05.0"))
			}
			paths := files(rand.New(rand.NewPCG(seed, 0)), p.path("of-"+name))
			r := p.run(append([]string{"ingest", "--with-osrt", "--run", name}, paths...)...)
			if r.code != 0 {
				t.Logf("%s: %d %.400s", what, r.code, r.err)
				if broken.MatchString(r.err) {
					t.Errorf("%s: ingest: %.800s", what, r.err)
				}
				continue
			}
			for _, q := range all {
				p.whole(what, "query", q.Name, "--run", name, "--format", "json")
			}
			p.whole(what, "show", name)
			p.whole(what, "explain", name)
			p.whole(what, "report", name, "--out", "-")
			p.whole(what, "diff", "a", name)
			p.whole(what, "diff", name, "a")
		}
	}
}
