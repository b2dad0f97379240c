package page

import (
	"bytes"
	"context"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"prof/ingest/ncu"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
)

// readPage reads a page and keeps its results.
func readPage(t testing.TB, path string) ([]ncu.Result, *Info) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return readPageText(t, filepath.Base(path), string(text))
}

func readPageText(t testing.TB, name, text string) ([]ncu.Result, *Info) {
	t.Helper()
	var out []ncu.Result
	info, err := Read(context.Background(), strings.NewReader(text), name, func(r *ncu.Result) error {
		c := *r
		c.Metrics, c.Ranges, c.Findings = slices.Clone(r.Metrics), slices.Clone(r.Ranges), slices.Clone(r.Findings)
		out = append(out, c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if info.Results != len(out) {
		t.Errorf("%s: the page says %d results and gave %d", name, info.Results, len(out))
	}
	return out, info
}

// sharedPages finds a capture's pages in the shared folder, which is not part of the repository.
func sharedPages(t testing.TB, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob("../../../shared/captures/ncu/" + pattern)
	if err != nil || len(paths) == 0 {
		t.Skipf("no %s in the shared captures", pattern)
	}
	return paths
}

// basePages are the raw pages in base units of the captures, shared ones and the one in the repository.
func basePages(t testing.TB) []string {
	own := "../../../testdata/ncu/pages/kernels.raw-base.csv"
	if testing.Short() {
		return []string{own}
	}
	shared, _ := filepath.Glob("../../../shared/captures/ncu/*.raw-base.csv")
	if len(shared) == 0 {
		t.Log("the shared captures are not there: only the page of the repository is checked")
	}
	return append(shared, own)
}

// printedError is how far a value can be from what is printed of it with that many decimals in a unit scaled by ten to the exponent.
func printedError(v float64, decimals, exponent int) float64 {
	return 0.5*math.Pow10(exponent-decimals) + math.Abs(v)*1e-12
}

// scaleOf is the exponent that ncu scales a value by: one that leaves one to three digits before the point.
func scaleOf(m ncu.Metric) int {
	top, bottom, _ := strings.Cut(m.Unit, "/")
	if v := math.Abs(m.Value); v >= 1000 && (top == "byte" || m.Unit == "hz" || m.Unit == "ns" || bottom == "s" || bottom == "byte") {
		return 3 * int(min(math.Log10(v*1.000001)/3, 4))
	}
	return 0
}

// exponents reads the unit row of a raw page: a column has one scale for all its values.
func exponents(t *testing.T, path string) map[string]int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut("\n"+string(text), "\n\"ID\"")
	rows, err := csv.NewReader(strings.NewReader("\"ID\"" + page)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for i, name := range rows[0] {
		out[name] = parseUnit(rows[1][i]).exponent
	}
	return out
}

func sameIdentity(a, b *ncu.Result) bool {
	return a.ID == b.ID && a.Kind == b.Kind && a.PID == b.PID && a.TID == b.TID && a.Process == b.Process && a.Host == b.Host &&
		a.Device == b.Device && a.Context == b.Context && a.Stream == b.Stream && a.Name == b.Name && a.Symbol == b.Symbol &&
		a.Grid == b.Grid && a.Block == b.Block && a.HasNVTX == b.HasNVTX && slices.Equal(a.Ranges, b.Ranges)
}

// TestRawScaledEqualsBase holds the raw page in scaled units against the one in base units of the same report.
func TestRawScaledEqualsBase(t *testing.T) {
	for _, base := range basePages(t) {
		want, _ := readPage(t, base)
		scaled := strings.Replace(base, ".raw-base.", ".raw.", 1)
		got, info := readPage(t, scaled)
		exponent := exponents(t, scaled)
		if len(got) != len(want) || len(got) == 0 || info.Form != RawForm {
			t.Fatalf("%s: form %q, %d results, want %d", base, info.Form, len(got), len(want))
		}
		compared := 0
		for i := range want {
			if !sameIdentity(&got[i], &want[i]) || len(got[i].Metrics) != len(want[i].Metrics) {
				t.Fatalf("%s: result %d is %+v, want %+v", base, i, got[i], want[i])
			}
			for j, w := range want[i].Metrics {
				g := got[i].Metrics[j]
				far := math.Abs(g.Value - w.Value)
				if g.Name != w.Name || g.Unit != w.Unit || g.IsText != w.IsText || g.Text != w.Text ||
					math.IsNaN(g.Value) != math.IsNaN(w.Value) || far > printedError(w.Value, 6, exponent[w.Name])+0.005 {
					t.Errorf("%s: result %d: %+v, want %+v", base, i, g, w)
				}
				compared++
			}
		}
		t.Logf("%s: %d results, %d values", base, len(want), compared)
	}
}

// TestDetailsEqualRaw holds what the labels of details pages were taken for against the raw page of the same report.
func TestDetailsEqualRaw(t *testing.T) {
	for _, base := range basePages(t) {
		raw, _ := readPage(t, base)
		got, info := readPage(t, strings.Replace(base, ".raw-base.", ".details.", 1))
		if len(got) != len(raw) || info.Form != DetailsForm {
			t.Fatalf("%s: form %q, %d results, want %d", base, info.Form, len(got), len(raw))
		}
		compared := 0
		for i := range got {
			if !sameIdentity(&got[i], &raw[i]) {
				t.Errorf("%s: result %d is %+v, want %+v", base, i, got[i], raw[i])
			}
			compared += compareByName(t, base, &got[i], &raw[i])
		}
		if w := strings.Join(info.Warnings, " "); strings.Contains(w, "label") {
			t.Errorf("%s: %s", base, w)
		}
		t.Logf("%s: %d results, %d values", base, len(raw), compared)
	}
}

// compareByName holds a result of a details page against that of the raw page in base units.
func compareByName(t *testing.T, page string, got, raw *ncu.Result) (compared int) {
	t.Helper()
	have := map[string]ncu.Metric{}
	for _, m := range raw.Metrics {
		have[m.Name] = m
	}
	seen := map[string]bool{}
	for _, g := range got.Metrics {
		w, ok := have[g.Name]
		switch {
		case seen[g.Name]:
			t.Errorf("%s: result %d has %s twice", page, got.ID, g.Name)
		case !ok:
			t.Errorf("%s: result %d: the raw page has no %s", page, got.ID, g.Name)
		case g.Unit != w.Unit || g.IsText != w.IsText || g.Text != w.Text || math.Abs(g.Value-w.Value) > printedError(w.Value, 2, scaleOf(w))+0.005:
			t.Errorf("%s: result %d: %+v, want %+v", page, got.ID, g, w)
		}
		seen[g.Name] = true
		compared++
	}
	return compared
}

// TestSharedConsole reads the console output of the shared captures.
func TestSharedConsole(t *testing.T) {
	for _, path := range sharedPages(t, "kernels-console*.csv") {
		results, info := readPage(t, path)
		if len(results) != 16 || info.Facts["Process "+strconv.Itoa(int(results[0].PID))] != "/home/user/run/kernels" {
			t.Errorf("%s: %d results, %+v", path, len(results), info)
		}
		for _, r := range results {
			if r.ClockLocked == nil || *r.ClockLocked || len(r.Metrics) < 40 || r.HasNVTX {
				t.Errorf("%s: %+v", path, r)
			}
		}
	}
}

// TestSharedSniff tells the pages of ncu from everything else in the shared captures.
func TestSharedSniff(t *testing.T) {
	sharedPages(t, "*.csv")
	pages, others := 0, 0
	err := filepath.WalkDir("../../../shared/captures", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		head := make([]byte, 64<<10)
		n, _ := f.Read(head)
		want := filepath.Ext(path) == ".csv" && filepath.Base(filepath.Dir(path)) == "ncu"
		if got := Sniff(strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".gz"), head[:n]); got != want {
			t.Errorf("%s: %v", path, got)
		}
		if want {
			pages++
		} else {
			others++
		}
		return nil
	})
	if err != nil || pages < 20 || others < 20 {
		t.Fatalf("%d pages and %d other files: %v", pages, others, err)
	}
}

// TestUTF16 reads a page that a console of Windows redirected.
func TestUTF16(t *testing.T) {
	text, err := os.ReadFile("../../../testdata/ncu/pages/names.raw.csv")
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.ReplaceAll(text, []byte("café"), []byte("café 😀"))
	want, _ := readPageText(t, "utf8", string(text))
	for _, order := range []string{"\xff\xfe", "\xfe\xff"} {
		wide := []byte(order)
		for _, c := range utf16.Encode([]rune(string(text))) {
			if order == "\xff\xfe" {
				wide = append(wide, byte(c), byte(c>>8))
			} else {
				wide = append(wide, byte(c>>8), byte(c))
			}
		}
		if !Sniff("log.txt", wide[:2000]) {
			t.Error("the page is not recognised")
		}
		got, _ := readPageText(t, "utf16", string(wide))
		if len(got) != len(want) || !sameIdentity(&got[4], &want[4]) || got[4].Ranges[0].Name != "café 😀" {
			t.Errorf("%d results, want %d: %+v", len(got), len(want), got)
		}
	}
}
