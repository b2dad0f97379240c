package ncu_test

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"prof/ingest/ncu"
)

// realReport is a report with the raw page in base units that ncu itself printed of it: ncu --import --page raw --csv
// --print-units base --print-fp.
type realReport struct{ name, report, page string }

// realReports lists those of testdata and of the larger set where it is there.
func realReports(t testing.TB) []realReport {
	t.Helper()
	var out []realReport
	for _, folder := range []string{"../../testdata/ncu", "../../../shared/captures/ncu"} {
		pages, err := filepath.Glob(folder + "/*.raw-base.csv*")
		if err != nil {
			t.Fatal(err)
		}
		if len(pages) == 0 {
			t.Logf("%s: absent, not looked at", folder)
		}
		for _, page := range pages {
			stem, _, _ := strings.Cut(page, ".raw-base.csv")
			reports, err := filepath.Glob(stem + ".ncu-rep*")
			if err != nil || len(reports) != 1 {
				t.Fatal(page, reports, err)
			}
			out = append(out, realReport{filepath.Base(folder) + "/" + filepath.Base(stem), reports[0], page})
		}
	}
	if len(out) < 4 {
		t.Fatalf("only %d reports were found", len(out))
	}
	return out
}

// fileBytes returns what a file holds, unpacked.
func fileBytes(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(path, ".gz") {
		return b
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(path, err)
	}
	if b, err = io.ReadAll(z); err != nil {
		t.Fatal(path, err)
	}
	return b
}

// reportOf returns one report of testdata.
func reportOf(t testing.TB, name string) []byte {
	t.Helper()
	return fileBytes(t, "../../testdata/ncu/"+name+".ncu-rep.gz")
}

// results reads a whole report and gives copies of its results.
func results(t testing.TB, data []byte) (*ncu.Report, []ncu.Result) {
	t.Helper()
	r, out, err := tryResults(t, data)
	if err != nil {
		t.Fatal(err)
	}
	return r, out
}

func tryResults(t testing.TB, data []byte) (*ncu.Report, []ncu.Result, error) {
	r, err := ncu.OpenReport(bytes.NewReader(data), int64(len(data)), "test.ncu-rep")
	if err != nil {
		return nil, nil, err
	}
	var out []ncu.Result
	err = r.Each(t.Context(), func(x *ncu.Result) error {
		c := *x
		c.Metrics, c.Ranges, c.Findings = slices.Clone(x.Metrics), slices.Clone(x.Ranges), slices.Clone(x.Findings)
		out = append(out, c)
		return nil
	})
	return r, out, err
}

// rawPage is a raw page as encoding/csv reads it.
type rawPage struct {
	names, units []string
	rows         [][]string
	metrics      int // first column of a metric
}

func readRawPage(t testing.TB, path string) *rawPage {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(fileBytes(t, path))).ReadAll()
	if err != nil || len(rows) < 3 {
		t.Fatal(path, len(rows), err)
	}
	p := &rawPage{names: rows[0], units: rows[1], rows: rows[2:], metrics: slices.Index(rows[0], "CC") + 1}
	if p.metrics < 5 || slices.Contains(p.names[p.metrics:], "") {
		t.Fatalf("%s: its columns are not those of a raw page: %q", path, p.names[:20])
	}
	return p
}

// cell returns the value of a column that is no metric; ok is false where the page has no such column.
func (p *rawPage) cell(row int, name string) (value string, ok bool) {
	i := slices.Index(p.names[:p.metrics], name)
	if i < 0 {
		return "", false
	}
	return p.rows[row][i], true
}

// printed is a value as the page prints it: two decimals, commas between thousands.
func printed(m ncu.Metric) string {
	switch {
	case m.IsText:
		return m.Text
	case m.Text != "": // a whole number that no float64 holds
		return withCommas(m.Text + ".00")
	}
	return withCommas(strings.ToLower(fmt.Sprintf("%.2f", m.Value)))
}

func withCommas(s string) string {
	whole, decimals, ok := strings.Cut(s, ".")
	if !ok {
		return s // nan, inf
	}
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return whole + "." + decimals
}

// notOnPage are the metrics whose values the raw page leaves out: names of groups and of the parts of a throughput, and the name
// that has a column of its own.
var notOnPage = regexp.MustCompile(`^(breakdown:|group:|launch__kernel_name$)`)

// unitsUnknown are the metrics whose unit differs from chip to chip or from section set to section set.
var unitsUnknown = regexp.MustCompile(`^(derived__\w+_pred_on_x[24]|gcc__xbar2gcc_sectors\.sum)$`)

// TestReportIsPage: every value of the raw page is in the report, equal once it is rounded as the page rounds it; and every value
// of the report is on the page.
func TestReportIsPage(t *testing.T) {
	for _, c := range realReports(t) {
		t.Run(c.name, func(t *testing.T) {
			page := readRawPage(t, c.page)
			r, got := results(t, fileBytes(t, c.report))
			if r.Cut || r.Lost != 0 {
				t.Errorf("cut, %d bytes lost", r.Lost)
			}
			if len(got) != len(page.rows) {
				t.Fatalf("%d results, the page has %d", len(got), len(page.rows))
			}
			cells, unknown := 0, 0
			for i := range got {
				n, u := compareMetrics(t, page, page.rows[i], &got[i])
				cells, unknown = cells+n, unknown+u
				compareColumns(t, r, page, i, &got[i])
			}
			t.Logf("%d results, %d values equal, %d of them without a unit of their own", len(got), cells, unknown)
			if cells < 200*len(got) {
				t.Errorf("only %d values were compared", cells)
			}
		})
	}
}

// compareMetrics compares one result both ways and gives the number of values that are equal.
func compareMetrics(t *testing.T, page *rawPage, row []string, r *ncu.Result) (cells, unknown int) {
	t.Helper()
	have := map[string]ncu.Metric{}
	for _, m := range r.Metrics {
		if _, twice := have[m.Name]; twice {
			t.Errorf("result %d: %s is there twice", r.ID, m.Name)
		}
		have[m.Name] = m
	}
	for i := page.metrics; i < len(row); i++ {
		name, want := page.names[i], row[i]
		m, ok := have[name]
		delete(have, name)
		switch {
		case !ok && (want == "" || want == "no data"): // as the page says of a metric that was not collected
		case !ok:
			t.Errorf("result %d: %s is missing, the page has %q", r.ID, name, want)
		case notOnPage.MatchString(name) && want == "":
		case printed(m) != want:
			t.Errorf("result %d: %s is %v %q, the page has %q", r.ID, name, m.Value, m.Text, want)
		case m.Unit == ncu.UnknownUnit && unitsUnknown.MatchString(name):
			unknown++
			cells++
		case m.Unit != page.units[i]:
			t.Errorf("result %d: the unit of %s is %q, the page has %q", r.ID, name, m.Unit, page.units[i])
		default:
			cells++
		}
	}
	for name, m := range have {
		if !notOnPage.MatchString(name) {
			t.Errorf("result %d: %s = %v %q is not on the page", r.ID, name, m.Value, m.Text)
		}
	}
	return cells, unknown
}

// compareColumns compares what the page says of a result beside its metrics.
func compareColumns(t *testing.T, r *ncu.Report, page *rawPage, row int, x *ncu.Result) {
	t.Helper()
	want := map[string]string{
		"ID": fmt.Sprint(x.ID), "Process ID": fmt.Sprint(x.PID), "Process Name": filepath.Base(x.Process), "Host Name": x.Host,
		"Context": orNA(x.Context), "Stream": orNA(x.Stream), "Device": orNA(x.Device), "CC": capability(r, x.Device),
	}
	if x.Kind == ncu.Kernel { // of a graph, the page prints sizes that it does not have
		want["Grid Size"], want["Block Size"] = size(x.Grid), size(x.Block)
	}
	for name, got := range want {
		if said, ok := page.cell(row, name); !ok || said != got {
			t.Errorf("result %d: %s is %q, the page has %q", x.ID, name, got, said)
		}
	}
	switch name, _ := page.cell(row, "Kernel Name"); {
	case x.Kind != ncu.Kernel && (name != x.Kind.String() || x.Name != ""):
		t.Errorf("result %d is a %v named %q, the page has %q", x.ID, x.Kind, x.Name, name)
	case x.Kind == ncu.Kernel && name != x.Name && !cutName(x, name):
		t.Errorf("result %d: its name is %q, the page has %q", x.ID, x.Name, name)
	}
	compareNVTX(t, page, row, x)
}

// cutName reports whether a page's name is that of the result with namespaces left out: their words are all in the whole name, in
// its order, and the function's own name stands before its parameters.
func cutName(x *ncu.Result, page string) bool {
	rest := x.Name
	for _, word := range regexp.MustCompile(`\w+`).FindAllString(page, -1) {
		_, after, ok := strings.Cut(rest, word)
		if !ok {
			return false
		}
		rest = after
	}
	return regexp.MustCompile(`(^|[ :])` + regexp.QuoteMeta(x.Function) + `($|[<(])`).MatchString(page)
}

func orNA(v int32) string {
	if v < 0 {
		return "n/a"
	}
	return fmt.Sprint(v)
}

func size(d [3]int32) string { return fmt.Sprintf("(%d, %d, %d)", d[0], d[1], d[2]) }

func capability(r *ncu.Report, device int32) string {
	for _, d := range r.Session.Devices {
		if d.ID == device {
			return fmt.Sprintf("%v.%v", d.Attributes["device__attribute_compute_capability_major"].Value, d.Attributes["device__attribute_compute_capability_minor"].Value)
		}
	}
	return "no device"
}

// compareNVTX compares a result's ranges with the page's, which lists them domain by domain: "domain:name:..." of the launching
// thread after its number, "id:domain:name:..." of start/end ranges.
func compareNVTX(t *testing.T, page *rawPage, row int, x *ncu.Result) {
	t.Helper()
	for startEnd, column := range map[bool]string{
		false: "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
		true:  "Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
	} {
		cell, ok := page.cell(row, column)
		if ok != x.HasNVTX {
			t.Errorf("result %d: whether NVTX was captured: %v, on the page %v", x.ID, x.HasNVTX, ok)
		}
		var left []string
		for _, r := range x.Ranges {
			if domain := r.Domain; r.StartEnd == startEnd {
				if domain == "" {
					domain = "<default domain>"
				}
				left = append(left, domain+":"+r.Name+":")
			}
		}
		before, list, _ := strings.Cut(cell, `"`)
		if !startEnd && cell != "" && strings.TrimSpace(before) != fmt.Sprint(x.TID) {
			t.Errorf("result %d: thread %d, the page has %q", x.ID, x.TID, cell)
		}
		for _, entry := range strings.Split(strings.TrimSuffix(strings.TrimSpace(list), `"`), `"  "`) {
			if startEnd {
				_, entry, _ = strings.Cut(entry, ":")
			}
			i := slices.IndexFunc(left, func(r string) bool { return strings.HasPrefix(entry, r) })
			if i < 0 && entry != "" {
				t.Errorf("result %d: range %q of the page is missing", x.ID, entry)
			} else if i >= 0 {
				left = slices.Delete(left, i, i+1)
			}
		}
		if len(left) > 0 {
			t.Errorf("result %d: ranges %q are not on the page", x.ID, left)
		}
	}
}

// rangesOf writes a result's ranges outermost first: domain/name, ~ before one with start and end.
func rangesOf(x *ncu.Result) string {
	var out []string
	for _, r := range x.Ranges {
		s := r.Domain + "/" + r.Name
		if r.StartEnd {
			s = "~" + s
		}
		out = append(out, s)
	}
	return strings.Join(out, " > ")
}

// TestReportRanges: launches are in the ranges that their programs put them in; the page does not tell the order of ranges of
// different domains, but the programs do (testdata/nsys/variants.cu; kernels pushes prefill before inner).
func TestReportRanges(t *testing.T) {
	const prefill, inner, decode = "LLM/prefill", "LLM/prefill > /inner", "LLM/decode_all"
	eight := []string{"tiled_matmul " + prefill, "transpose_naive " + inner, "saxpy " + decode, "reduce_sum " + decode,
		"saxpy " + decode, "reduce_sum " + decode, "saxpy " + decode, "reduce_sum " + decode}
	for _, c := range []struct {
		path string
		want []string
	}{
		{"../../../shared/captures/ncu/kernels-full.ncu-rep.gz", append(slices.Clone(eight), eight...)},
		{"../../testdata/ncu/kernels-prefill.ncu-rep.gz", []string{eight[0], eight[1], eight[0], eight[1]}},
		{"../../testdata/ncu/kernels-range.ncu-rep.gz", []string{" " + prefill, " " + decode, " " + prefill, " " + decode}},
		{"../../testdata/ncu/variants-apprange.ncu-rep.gz", []string{" /xd_A", " /sync_mix"}},
		{"../../testdata/ncu/variants-graph.ncu-rep.gz", []string{
			"k_warm /init",
			"k_ct_wrk_before ~LLM/se_cross_thread > /wrk_push", // another thread has main_push open, and began se_cross_thread
			" /decode_all > /decode_step[0]", " /decode_all > /decode_step[2]",
			"k_thr0 /worker[0] > /chunk", // another thread is in worker[1]
			"k_unend /never_popped > LLM/never_popped_llm > ~/never_ended > ~LLM/never_ended_llm",
		}},
	} {
		t.Run(filepath.Base(c.path), func(t *testing.T) {
			if _, err := os.Stat(c.path); err != nil && strings.Contains(c.path, "shared") {
				t.Skip("no " + c.path + " here")
			}
			_, got := results(t, fileBytes(t, c.path))
			if len(got) != len(c.want) {
				t.Fatalf("%d results, want %d", len(got), len(c.want))
			}
			for i := range got {
				if line := got[i].Function + " " + rangesOf(&got[i]); line != c.want[i] || int(got[i].ID) != i {
					t.Errorf("result %d (ID %d): %s, want %s", i, got[i].ID, line, c.want[i])
				}
			}
		})
	}
}

// TestReportFullPrecision: the report holds more than the page prints of it.
func TestReportFullPrecision(t *testing.T) {
	_, got := results(t, reportOf(t, "kernels-prefill"))
	finer := 0
	for _, x := range got {
		for _, m := range x.Metrics {
			if m.Value != math.Round(m.Value*100)/100 {
				finer++
			}
		}
	}
	if finer < 100 {
		t.Errorf("only %d values have more than two decimals", finer)
	}
}
