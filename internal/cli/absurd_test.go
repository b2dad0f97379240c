package cli

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/internal/exports"
	"prof/internal/testkit"
)

// kernelRows changes the rows of kernels of a capture, which give back what is to be in their place.
func kernelRows(t *testing.T, path string, change func(of *exports.Table) [][]any) string {
	t.Helper()
	tables, err := exports.ReadFile(exported(t, kernels))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range tables {
		if x.Name == "CUPTI_ACTIVITY_KIND_KERNEL" {
			x.Rows = change(x)
		}
	}
	return sqliteFile(t, path, tables)
}

// absurd are changes of the rows of kernels, by the runs of absurdRuns.
var absurd = map[string]func(of *exports.Table) [][]any{
	"one of device -1": func(of *exports.Table) [][]any {
		of.Rows[3][of.Column("deviceId")] = int64(-1)
		return of.Rows
	},
	"all of device -1": func(of *exports.Table) [][]any {
		for _, r := range of.Rows {
			r[of.Column("deviceId")] = int64(-1)
		}
		return of.Rows
	},
	"100000 devices": func(of *exports.Table) (rows [][]any) {
		for i := range int64(100_000) {
			r := slices.Clone(of.Rows[i%int64(len(of.Rows))])
			for _, c := range []string{"start", "end"} {
				r[of.Column(c)] = r[of.Column(c)].(int64) + i*1000
			}
			r[of.Column("deviceId")] = i
			rows = append(rows, r)
		}
		return rows
	},
}

// evil clears a screen, sets a title, turns a line around and is no UTF-8.
const evil = "a\x1b[2J\x1b]0;t\a\u202eb\u2066\u0085\x7f\xff"

// wickedTexts writes a capture in which all texts are hostile.
func wickedTexts(t *testing.T, path string) string {
	t.Helper()
	tables, err := exports.ReadFile(exported(t, kernels))
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		for _, row := range table.Rows {
			for i, column := range table.Columns {
				if text, isText := row[i].(string); isText && (table.Name == "StringIds" && column == "value" || table.Name == "NVTX_EVENTS" && column == "text" || table.Name == "PROCESSES" && column == "name") {
					row[i] = text + strings.ToValidUTF8(evil, "")
				}
			}
		}
	}
	return sqliteFile(t, path, tables)
}

// absurdRuns are the runs of absurd, and one of the name "wicked" with hostile texts.
func absurdRuns(t *testing.T) []testkit.Run {
	add := func(runs []testkit.Run, name string, file func(path string) string) []testkit.Run {
		return append(runs, testkit.Run{Name: name, Sources: []string{"internal/cli/absurd_test.go", "internal/exports", "testdata/nsys/kernels"}, Make: func(dir string) ([]string, error) {
			return []string{file(filepath.Join(dir, "x.sqlite"))}, nil
		}})
	}
	runs := add(nil, "wicked", func(path string) string { return wickedTexts(t, path) })
	for _, name := range slices.Sorted(maps.Keys(absurd)) {
		runs = add(runs, name, func(path string) string { return kernelRows(t, path, absurd[name]) })
	}
	return runs
}

// TestAbsurdDevices checks that what no GPU is numbered by does not keep a run from being shown.
func TestAbsurdDevices(t *testing.T) {
	t.Parallel()
	p := reading(t, absurdRuns(t))
	for x := range absurd {
		t.Run(x, func(t *testing.T) {
			p := p.of(t)
			for _, verb := range []string{"show", "explain", "query"} {
				args := []string{verb, x}
				if verb == "query" {
					args = []string{verb, "concurrency", "--run", x}
				}
				if out := p.ok(args...); len(out) > 1<<20 {
					t.Errorf("prof %s is of %d bytes", strings.Join(args, " "), len(out))
				}
			}
			if x != "one of device -1" { // which is the same with less
				p.ok("report", x, "--out", "-")
			}
		})
	}
}
