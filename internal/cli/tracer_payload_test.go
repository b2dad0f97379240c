package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/capture/tracer"
	"prof/ingest"
	"prof/ingest/derive"
	"prof/ingest/load"
	"prof/ingest/nsys/table"
	reader "prof/ingest/tracer"
	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// TestTracerPayloads traces a program that tells NVTX of its calls as NCCL does: their sizes, operations and communicators are stored, and bandwidths follow
// from them. What the payloads of other kinds of ranges say is in the trace.
func TestTracerPayloads(t *testing.T) {
	t.Parallel()
	dir, gcc := compiledStandIn(t)
	lib, err := tracer.Build(t.Context(), tracer.Places{Compilers: []string{gcc}, Includes: []string{standIn + "include"}, Cache: filepath.Join(dir, "cache")})
	if err != nil {
		t.Fatal(err)
	}
	facts, err := derive.Behind("collective", "timeline", "caveat")
	if err != nil {
		t.Fatal(err)
	}
	w, err := schema.Open(t.Context(), schema.Home{Dir: t.TempDir()}, schema.Options{Write: true, Defs: queries.Relations{}, Facts: facts})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	const calls = `SELECT operation, in_bytes, out_bytes, group_name, group_size, rank_id, count(*) FROM collective_call c JOIN run r USING (run_id) WHERE r.name = '`
	// Each kernel takes 2 us: 2 x 3/4 of 1 MiB, and 3/4 of 4 x 4 KiB, the size of a rank's share.
	bandwidths := "all-reduce|4|8000|4194304|7.86432e+11|4|3|~ all-gather|1|2000|16384|6.144e+09|4|3|~"
	for mode, c := range map[string]struct{ calls, bandwidths string }{
		"whole": {"all-gather|4096|16384|18446744073709551615|4|3|1 all-reduce|1048576|1048576|18446744073709551615|4|3|4", bandwidths},
		"later": {"all-gather|4096|16384|18446744073709551615|4|3|1 all-reduce|1048576|1048576|18446744073709551615|4|3|4", bandwidths},
		// What a communicator of the parent is in the child is not known; of its kernels there is nothing.
		"fork": {"all-gather|4096|~|18446744073709551615|~|~|1 all-reduce|1048576|1048576|18446744073709551615|~|~|4", ""},
		"many": {},
	} {
		traces := t.TempDir()
		if err := os.Mkdir(filepath.Join(traces, "1"), 0o755); err != nil {
			t.Fatal(err)
		}
		o := tracer.Options{Dir: traces, GraphNodes: true}
		if mode == "later" {
			o.Window = tracer.Window{Switch: filepath.Join(traces, "switch"), Each: true}
		}
		cmd := exec.Command(filepath.Join(dir, "payloads"), mode)
		cmd.Env = append(append(os.Environ(), "LD_LIBRARY_PATH="+dir), lib.Env(o)...)
		if r := finish(t, cmd, cmd.Run); r.code != 0 || r.out+r.err != "" {
			t.Fatalf("%s: the workload: %+v", mode, r)
		}
		files, err := filepath.Glob(filepath.Join(traces, "*.proftrace"))
		if mode == "later" {
			files, err = filepath.Glob(filepath.Join(traces, "1", "*.proftrace"))
		}
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no trace: %v", mode, err)
		}
		if mode == "many" {
			continue
		}
		warn := func(text string) { t.Errorf("%s: %s", mode, text) }
		if _, err := ingest.Run(t.Context(), w, []string{filepath.Dir(files[0])}, ingest.Options{Name: mode, Now: testkit.Now, Load: load.Options{Threads: 2}, Warn: warn}); err != nil {
			t.Fatal(err)
		}
		testkit.Expect(t, w, calls+mode+"' GROUP BY ALL ORDER BY ALL", strings.Fields(c.calls)...)
		f := testkit.Query(t, w, "collectives", queries.Args{"run": mode})
		var got []string
		for _, row := range f.Rows {
			var cells []string
			for _, name := range []string{"operation", "calls", "total_ns", "total_bytes", "bus_bytes_per_s", "rank_count", "rank", "reason"} {
				cells = append(cells, strings.ReplaceAll(fmt.Sprint(row[f.Index(name)]), "<nil>", "~"))
			}
			got = append(got, strings.Join(cells, "|"))
		}
		if strings.Join(got, " ") != c.bandwidths {
			t.Errorf("%s: %s, want %s", mode, got, c.bandwidths)
		}
		if slices.ContainsFunc(f.Notes, func(n string) bool { return strings.Contains(n, "bytes") }) {
			t.Errorf("%s: it notes %q", mode, f.Notes)
		}
		if got := testkit.Query(t, w, "syncs", queries.Args{"run": mode}); len(got.Rows) > 0 || !slices.ContainsFunc(got.Notes, func(n string) bool { return strings.Contains(n, "records no synchronisations") }) {
			t.Errorf("%s: synchronisations %v, it notes %q", mode, got.Rows, got.Notes)
		}
		if mode == "whole" {
			said := testkit.Rows(t, w, `SELECT severity, message FROM diagnostic JOIN run r USING (run_id) WHERE r.name = 'whole' AND message LIKE '%payload%'`)
			if len(said) != 1 || !strings.HasPrefix(said[0], "info|payloads of more than 256 bytes, or of unknown size: 1") {
				t.Errorf("of what was cut it says %q", said)
			}
			if got, want := payloadsIn(t, files[0]), otherPayloads; !slices.Equal(got, want) {
				t.Errorf("payloads:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

// otherPayloads are the ranges and marks that are not of NCCL, in the order in which they end.
var otherPayloads = []string{
	`u64 18446744073709551615`,
	`i64 -5`,
	`double 2.5`,
	`u32 4294967295`,
	`i32 -5`,
	`float 0.1`,
	`by data! {"whole":{"message":"by data!","points":[{"x":-1,"y":0.5},{"x":2,"y":1e+300}],"2":"ab","behind":7}}`,
	`by data! [{"whole":{"message":"by data!","points":[{"x":-1,"y":0.5},{"x":2,"y":1e+300}],"2":"ab","behind":7}},9]`,
	`by data! {"whole":{"message":"by data!","points":null,"2":null,"behind":null}}`,
	`by handle [{"text":null},6]`,
	`ended [1,2]`,
	` {"text":"xxx","kept":1,"cut":null}`,
	` no schema 4294968296 in domain 2`,
}

// payloadsIn returns names and payloads of a trace, but those of NCCL.
func payloadsIn(t *testing.T, path string) (out []string) {
	t.Helper()
	d, err := reader.Open(path, path)
	if err != nil {
		t.Fatal(err)
	}
	scan, err := d.Scan(t.Context(), "NVTX_EVENTS", []table.Want{{Name: "textId"}, {Name: "jsonTextId"}})
	if err != nil {
		t.Fatal(err)
	}
	err = table.Each(scan, func(b *table.Batch) error {
		for i := range b.N {
			var texts [2]string
			for c := range texts {
				if b.Cols[c].Null(i) {
					continue
				}
				var err error
				if texts[c], _, err = d.String(b.Cols[c].Ints[i]); err != nil {
					return err
				}
			}
			if texts[1] != "" && !strings.HasPrefix(texts[0], "nccl") {
				out = append(out, texts[0]+" "+texts[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
