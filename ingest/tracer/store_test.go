package tracer_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prof/ingest/load"
	"prof/ingest/nsys"
	"prof/ingest/nsys/sqlite"
	"prof/ingest/nsys/table"
	"prof/ingest/rows/rowstest"
	"prof/ingest/tracer"
	"prof/internal/exports"
)

// stored loads a trace or a folder of them, in memory.
func stored(t testing.TB, path string) (*rowstest.Kept, *load.SourceInfo, error) {
	t.Helper()
	k := rowstest.New(t, load.Options{APIRows: true})
	info, err := tracer.Identify(t.Context(), path, path)
	if err == nil {
		info, err = tracer.Load(t.Context(), path, path, k.Target)
	}
	if err != nil {
		return k, nil, err
	}
	return k, info, k.StoreShared(t.Context())
}

// pair writes what a trace can have of an export as an export of its own and as a folder of traces.
func pair(t testing.TB, path string) (sqlite, traces string) {
	t.Helper()
	tables, err := exports.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tables = exports.Traced(tables)
	dir := t.TempDir()
	sqlite, traces = filepath.Join(dir, "a.sqlite"), filepath.Join(dir, "traces")
	if err := exports.Repeat(sqlite, tables, 1); err != nil {
		t.Fatal(err)
	}
	if err := exports.WriteTraces(traces, tables); err != nil {
		t.Fatal(err)
	}
	return sqlite, traces
}

// TestEqualsExport: the same records as an export and as traces give the same rows in every table.
func TestEqualsExport(t *testing.T) {
	for _, c := range []struct {
		path   string
		traces int
	}{
		{"../nsys/testdata/processes.sqlite", 2},
		{"../../testdata/nsys/kernels/kernels.sqlite.gz", 1},
		{"../../testdata/nsys/emit-nvtx/emit-nvtx.sqlite.gz", 1},
		{"../../testdata/graph/node.sqlite.gz", 1},
		{"../../testdata/graph/whole.sqlite.gz", 1},
		{"../../testdata/odd/while-node.sqlite.gz", 1},
		{"../../testdata/odd/device-graph.sqlite.gz", 1},
		{"../../../shared/captures/others/h100_2gpu_1s.sqlite.gz", 2},
	} {
		t.Run(filepath.Base(c.path), func(t *testing.T) {
			if _, err := os.Stat(c.path); err != nil {
				t.Skip(err)
			}
			export, folder := pair(t, c.path)
			if found, err := filepath.Glob(filepath.Join(folder, "*")); len(found) != c.traces {
				t.Errorf("%d traces, want %d: %v", len(found), c.traces, err)
			}
			k := rowstest.New(t, load.Options{APIRows: true})
			want, err := nsys.Opener(nsys.SQLite).Load(t.Context(), export, export, k.Target)
			if err == nil {
				err = k.StoreShared(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			traced, got, err := stored(t, folder)
			if err != nil {
				t.Fatal(err)
			}
			if n := rowstest.Same(t, k.Contents(), traced.Contents()); n < 50 {
				t.Errorf("only %d rows were compared", n)
			}
			if got.Rows != want.Rows || got.Status != "" || want.Status != "" || load.OrNull(got.DurationNs) != load.OrNull(want.DurationNs) {
				t.Errorf("the traces are %+v, the export %+v", got, want)
			}
		})
	}
}

// TestKilled: of a process that was killed what it wrote is stored, and messages say what may be missing.
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "5.proftrace")
	if err := os.WriteFile(path, append(whole(), "blk\n\x02"...), 0o644); err != nil {
		t.Fatal(err)
	}
	k, info, err := stored(t, path)
	if err != nil {
		t.Fatal(err)
	}
	k.Table("kernel_name").Expect(t, "name short_name", "k()|k")
	k.Table("kernel_symbol").Expect(t, "symbol")
	k.Table("kernel").By("start_ns").Expect(t, "start_ns path_id.path", "10|decode > decode", "30|~")
	k.Table("nvtx_range").By("start_ns").Expect(t, "start_ns duration_ns", "1|49", "2|~")
	said := strings.Join(k.Table("diagnostic").Is("origin", "ingest").Texts("severity message"), "\n") + strings.Join(info.Warnings, "\n")
	for _, want := range []string{"warning|1 of 1 traces do not end in order (5.proftrace): the process was killed or left by _exit", "warning|the last block of 5.proftrace is cut and was left out (5 bytes)"} {
		if !strings.Contains(said, want) {
			t.Errorf("it says %s", said)
		}
	}
}

// TestCutToNothing: a trace that was cut is stored if anything in it is, wherever the cut is.
func TestCutToNothing(t *testing.T) {
	text := whole()
	refused, path := 0, filepath.Join(t.TempDir(), "5.proftrace")
	for at := 1; at < len(text); at += 7 {
		if err := os.WriteFile(path, text[:at], 0o644); err != nil {
			t.Fatal(err)
		}
		k, info, err := stored(t, path)
		switch {
		case errors.Is(err, load.ErrNothingWhole):
			refused++
			if k.Count("kernel")+k.Count("nvtx_range") > 0 || !strings.HasPrefix(err.Error(), path) {
				t.Errorf("cut at %d: %v", at, err)
			}
		case err == nil && info.Rows == 0:
			t.Errorf("cut at %d: nothing of it is stored, and it passes: %q", at, fmt.Sprint(info.Warnings))
		case err != nil && !errors.Is(err, tracer.ErrNoWork): // between two blocks
			t.Errorf("cut at %d: %v", at, err)
		}
	}
	if refused < 10 {
		t.Errorf("%d cuts were refused", refused)
	}
}

// TestRefused: what cannot be read is refused in words, and so is a recording of no GPU.
func TestRefused(t *testing.T) {
	damaged := whole()
	damaged[len(damaged)/3] ^= 1 // of rows
	for want, f := range map[string]*file{
		"no CUDA activity was recorded in 1 processes": begin().table(1, "i", "NVTX_EVENTS", "start").end(),
		"1.proftrace: table ":                          {damaged},
	} {
		if k, _, err := stored(t, folder(t, f)); err == nil || !strings.Contains(err.Error(), want) || k.Count("kernel") > 0 {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// BenchmarkRead reads the kernels of a recording, as traces and as an export.
func BenchmarkRead(b *testing.B) {
	export, folder := pair(b, "../../testdata/nsys/llama-graph-node/llama-graph-node.sqlite.gz")
	const columns = "start end deviceId contextId streamId correlationId globalPid demangledName shortName gridX gridY gridZ blockX blockY blockZ registersPerThread staticSharedMemory dynamicSharedMemory graphNodeId mangledName"
	var wants []table.Want
	for _, c := range strings.Fields(columns) {
		wants = append(wants, table.Want{Name: c})
	}
	for name, open := range map[string]func() (table.Export, error){
		"sqlite": func() (table.Export, error) { return sqlite.Open(export) },
		"traces": func() (table.Export, error) { return tracer.Open(folder, folder) },
	} {
		b.Run(name, func(b *testing.B) {
			rows := 0
			for b.Loop() {
				e, err := open()
				if err != nil {
					b.Fatal(err)
				}
				s, err := e.Scan(b.Context(), "CUPTI_ACTIVITY_KIND_KERNEL", wants)
				if err != nil {
					b.Fatal(err)
				}
				if err := table.Each(s, func(batch *table.Batch) error { rows += batch.N; return nil }); err != nil {
					b.Fatal(err)
				}
				e.Close()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
		})
	}
}
