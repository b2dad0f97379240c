package page

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/ingest/ncu"
	"prof/internal/golden"
)

// TestPagesEqualReports holds the raw pages of the captures in the repository against their reports: both give the same results,
// but for what a page does not say or prints shorter: names, threads outside every range, the order of domains.
func TestPagesEqualReports(t *testing.T) {
	pages, err := filepath.Glob("../../../testdata/ncu/*.raw-base.csv.gz") // reports without one are held to NVIDIA's reader alone
	if err != nil || len(pages) < 3 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	for _, page := range pages {
		path := strings.Replace(page, ".raw-base.csv.gz", ".ncu-rep.gz", 1)
		report := golden.Unpacked(t, path)
		want, _ := readPageText(t, page, string(golden.Unpacked(t, page)))
		r, err := ncu.OpenReport(bytes.NewReader(report), int64(len(report)), path)
		if err != nil {
			t.Fatal(err)
		}
		n, values := 0, 0
		err = r.Each(context.Background(), func(got *ncu.Result) error {
			if n < len(want) {
				values += compareWithReport(t, path, got, &want[n])
			}
			n++
			return nil
		})
		if err != nil || n != len(want) || values < n {
			t.Errorf("%s: %d results, %d in the page, %d values: %v", path, n, len(want), values, err)
		}
		t.Logf("%s: %d results, %d values", path, n, values)
	}
}

// compareWithReport holds a result of a report against that of its raw page in base units, which rounds to two decimals.
func compareWithReport(t *testing.T, path string, report, page *ncu.Result) (values int) {
	t.Helper()
	identity := func(r *ncu.Result) string {
		ranges := slices.Clone(r.Ranges)
		slices.SortFunc(ranges, func(a, b ncu.NVTXRange) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		return fmt.Sprint(r.ID, r.Kind, r.PID, filepath.Base(r.Process), r.Host, r.Device, r.Context, r.Stream, r.Grid, r.Block, r.HasNVTX, ranges)
	}
	if a, b := identity(report), identity(page); a != b || page.TID != 0 && page.TID != report.TID {
		t.Errorf("%s: the report has %s, the page %s", path, a, b)
	}
	have := map[string]ncu.Metric{}
	for _, m := range report.Metrics {
		have[m.Name] = m
	}
	for _, p := range page.Metrics {
		m, ok := have[p.Name]
		if !ok || p.IsText != m.IsText || p.Text != m.Text || math.IsNaN(p.Value) != math.IsNaN(m.Value) ||
			math.Abs(p.Value-m.Value) > printedError(m.Value, 2, 0) || p.Unit != m.Unit && m.Unit != ncu.UnknownUnit {
			t.Errorf("%s: result %d: the report has %+v, the page %+v", path, report.ID, m, p)
		}
		values++
	}
	return values
}
