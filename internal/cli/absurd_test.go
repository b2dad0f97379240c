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

// TestAbsurdDevices checks that what no GPU is numbered by does not keep a run from being shown.
func TestAbsurdDevices(t *testing.T) {
	t.Parallel()
	const many = 100_000
	var runs []testkit.Run
	changes := map[string]func(of *exports.Table) [][]any{
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
			for i := range int64(many) {
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
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		runs = append(runs, testkit.Run{Name: name, Sources: []string{"internal/cli/absurd_test.go", "internal/exports", "testdata/nsys/kernels"}, Make: func(dir string) ([]string, error) {
			return []string{kernelRows(t, filepath.Join(dir, "x.sqlite"), changes[name])}, nil
		}})
	}
	p := reading(t, runs)
	for _, run := range runs {
		t.Run(run.Name, func(t *testing.T) {
			p, x := p.of(t), run.Name
			for _, verb := range []string{"show", "explain", "query"} {
				args := []string{verb, x}
				if verb == "query" {
					args = []string{verb, "concurrency", "--run", x}
				}
				if out := p.ok(args...); len(out) > 1<<20 {
					t.Errorf("prof %s is of %d bytes", strings.Join(args, " "), len(out))
				}
			}
			p.ok("report", x, "--out", "-")
		})
	}
}
