package torch_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/queries"
	"prof/schema"
)

// captures is where traces lie that are shipped with the sources.
const captures = "../../testdata/torch/"

func newWarehouse(t *testing.T) *schema.Warehouse {
	t.Helper()
	w, err := schema.Open(t.Context(), schema.Home{Dir: t.TempDir()}, schema.Options{Write: true, Defs: queries.Relations{}, Facts: derive.Facts{Only: []string{}}, MemoryLimit: "1GB"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// tryStore ingests files as one run and gives the warnings.
func tryStore(t *testing.T, w *schema.Warehouse, run string, paths ...string) ([]string, error) {
	t.Helper()
	var warnings []string
	o := ingest.Options{Name: run, Now: time.Now(), ProfVersion: "test", Warn: func(m string) { warnings = append(warnings, m) }}
	o.Load.Threads = 2
	_, err := ingest.Run(t.Context(), w, paths, o)
	return warnings, err
}

// store ingests files that must be read without an error.
func store(t *testing.T, w *schema.Warehouse, run string, paths ...string) []string {
	t.Helper()
	warnings, err := tryStore(t, w, run, paths...)
	if err != nil {
		t.Fatal(err)
	}
	return warnings
}

// rows gives a result as texts: values of a row joined by bars, NULL as ~.
func rows(t *testing.T, w *schema.Warehouse, sql string) []string {
	t.Helper()
	r, err := w.DB.QueryContext(t.Context(), sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	defer r.Close()
	cols, err := r.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for r.Next() {
		v, into := make([]any, len(cols)), make([]any, len(cols))
		for i := range v {
			into[i] = &v[i]
		}
		if err := r.Scan(into...); err != nil {
			t.Fatal(err)
		}
		text := make([]string, len(v))
		for i, x := range v {
			if text[i] = fmt.Sprint(x); x == nil {
				text[i] = "~"
			}
		}
		out = append(out, strings.Join(text, "|"))
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// unpack opens a file that may be gzip.
func unpack(tb testing.TB, path string) io.ReadCloser {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	if !strings.HasSuffix(path, ".gz") {
		return f
	}
	tb.Cleanup(func() { f.Close() })
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	return z
}

// write makes a trace file of the given text.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
