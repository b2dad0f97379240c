package queries_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
)

// golden are answers of the queries over operators to one real trace, kept whole.
var golden = []struct {
	file, query string
	args        queries.Args
}{
	{"top-operators", "top-operators", queries.Args{"top": "12"}},
	{"top-operators-shape", "top-operators", queries.Args{"by": "name+shape", "stage": "decode", "sort": "self_cpu", "top": "8"}},
	{"operator-kernels", "operator-kernels", queries.Args{"operator": "aten::linear,aten::copy_", "by": "outermost"}},
	{"operator-shapes", "operator-shapes", queries.Args{"operator": "aten::mm"}},
	{"operator-roofline", "operator-roofline", queries.Args{"top": "12"}},
	{"operator-callers", "operator-callers", queries.Args{"top": "12"}},
	{"operator-tree", "operator-tree", queries.Args{"min_ratio": "0.02"}},
	{"operator-stacks", "operator-stacks", queries.Args{"top": "8"}},
	{"memory", "memory", queries.Args{"top": "8"}},
	{"memory-timeline", "memory-timeline", queries.Args{"buckets": "6"}},
	{"module-times", "module-times", queries.Args{"by": "class"}},
}

// TestGolden holds the answers to those in testdata; -update writes them anew.
func TestGolden(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, c := range golden {
		args := queries.Args{"run": "llama-stack"}
		for k, v := range c.args {
			args[k] = v
		}
		f := testkit.Query(t, w, c.query, args)
		holdGolden(t, c.file, f)
	}
}

// holdGolden holds an answer to the one in testdata, or writes it there.
func holdGolden(t *testing.T, file string, f *frame.Frame) {
	t.Helper()
	var b strings.Builder
	for i, col := range f.Columns {
		b.WriteString(map[bool]string{true: "\t"}[i > 0] + col.Name)
	}
	b.WriteString("\n")
	for _, r := range f.Rows {
		for i, v := range r {
			b.WriteString(map[bool]string{true: "\t"}[i > 0] + fmt.Sprint(v))
		}
		b.WriteString("\n")
	}
	path := filepath.Join("testdata", file+".golden.tsv")
	if flag.Lookup("update").Value.String() == "true" { // that of TestFrozen
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, expected := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(expected)) {
		if i >= len(got) || i >= len(expected) || got[i] != expected[i] {
			t.Errorf("%s differs from line %d on:\n%.300s\nwant\n%.300s", path, i+1, strings.Join(got[min(i, len(got)):], "\n"), strings.Join(expected[min(i, len(expected)):], "\n"))
			break
		}
	}
}
