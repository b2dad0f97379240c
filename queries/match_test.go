package queries_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/internal/exports"
	"prof/internal/testkit"
)

// TestTimelineMatch: of a capture with a recording of each tool it is said where the two do not have the same kernels of the same passes, and nowhere else.
func TestTimelineMatch(t *testing.T) {
	const file = "capture/llama/sdpa-1/nsys/report-1.sqlite.gz"
	const kernels, calls = "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME"
	// lose leaves out every nth kernel with its launch, and so leaves no trace of it.
	lose := func(nth int) func(map[string]*exports.Table) {
		return func(of map[string]*exports.Table) {
			k, gone, n := of[kernels], map[any]bool{}, 0
			k.Rows = slices.DeleteFunc(k.Rows, func(r []any) bool {
				n++
				if n%nth == 0 {
					gone[r[k.Column("correlationId")]] = true
				}
				return n%nth == 0
			})
			c := of[calls]
			c.Rows = slices.DeleteFunc(c.Rows, func(r []any) bool { return gone[r[c.Column("correlationId")]] })
		}
	}
	shorten := func(share float64) func(map[string]*exports.Table) {
		return func(of map[string]*exports.Table) {
			k := of[kernels]
			for _, r := range k.Rows {
				start, end := k.Int(r, "start"), k.Int(r, "end")
				r[k.Column("end")] = end - int64(share*float64(end-start))
			}
		}
	}
	recorded := func(name string, change func(map[string]*exports.Table)) testkit.Run {
		return testkit.Run{Name: name, Key: name, Sources: []string{"queries/match_test.go", "queries/both_test.go", "internal/exports", "testdata/" + file}, Make: func(dir string) ([]string, error) {
			tables, err := exports.ReadFile(testkit.Path(file))
			if err != nil {
				return nil, err
			}
			tables = asTraced(tables)
			if change != nil {
				of := map[string]*exports.Table{}
				for _, x := range tables {
					of[x.Name] = x
				}
				change(of)
			}
			if err := exports.WriteTraces(filepath.Join(dir, "prof/trace-1"), exports.Traced(tables)); err != nil {
				return nil, err
			}
			packed, err := os.ReadFile(testkit.Path(file))
			if err == nil {
				err = os.Mkdir(filepath.Join(dir, "nsys"), 0o755)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "nsys/report-1.sqlite.gz"), packed, 0o644)
			}
			pass := func(id, tool, artifact string) string {
				return `{"pass": ` + id + `, "name": "` + tool + `-1", "tool": "` + tool + `", "mode": "deep", "repeat": 1, "argv": [], "started_at": "2026-11-22T08:52:37Z", "status": "ok", "artifacts": ["` + artifact + `"]}`
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "run.json"), []byte(`{"version": 1, "prof_version": "9", "run": "r", "mode": "deep", "argv": ["python3"], "workload_key": "k", "folder": "/", "started_at": "2026-11-22T08:52:37Z", "status": "ok", "passes": [`+
					pass("1", "prof", "prof/trace-1")+", "+pass("2", "nsys", "nsys/report-1.sqlite")+`]}`), 0o644)
			}
			return []string{dir}, err
		}}
	}
	w := testkit.Warehouse(t, recorded("same", nil), recorded("one lost", lose(2000)), recorded("lost", lose(40)), recorded("shorter", shorten(0.03)), recorded("as long", shorten(0.005)))
	for run, want := range map[string]string{"same": "~", "one lost": "~", "lost": "count", "shorter": "time", "as long": "~"} {
		testkit.Expect(t, w, "SELECT stage, bool_and(passes >= 3 AND kernel_count > 100), max(reason) FROM timeline_agreement('"+run+"') GROUP BY stage ORDER BY stage", "decode|true|"+want, "prefill|true|"+want)
		got := strings.Join(testkit.Rows(t, w, "SELECT DISTINCT kind FROM caveat c JOIN run r USING (run_id) WHERE r.name = '"+run+"' AND kind LIKE 'timelines-differ%'"), " ")
		if said := map[string]string{"count": "timelines-differ-in-kernels", "time": "timelines-differ-in-time", "~": ""}[want]; got != said {
			t.Errorf("%s: said is %q, want %q", run, got, said)
		}
	}
}
