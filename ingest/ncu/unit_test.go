package ncu

import (
	"compress/gzip"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// unitCase is what ncu said of one name: in a report's page or in --query-metrics of one chip or more.
type unitCase struct {
	metric, unit string
	source       string // report, or what --query-metrics calls it: counter, ratio or throughput
}

// unitCases are all distinct names and units of the raw pages of 14 reports (H200) and of --query-metrics of ga100, ad102, gh100,
// gb100 and gb202, by ncu 2025.3.1.
func unitCases(t *testing.T) []unitCase {
	t.Helper()
	f, err := os.Open("../../testdata/ncu/units.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var cases []unitCase
	for _, r := range rows[1:] {
		cases = append(cases, unitCase{r[0], r[1], r[2]})
	}
	return cases
}

// unitsOf are the units that ncu gave to each name.
func unitsOf(cases []unitCase) map[string]map[string]bool {
	said := map[string]map[string]bool{}
	for _, c := range cases {
		if said[c.metric] == nil {
			said[c.metric] = map[string]bool{}
		}
		said[c.metric][c.unit] = true
	}
	return said
}

func TestUnitOfEveryKnownMetric(t *testing.T) {
	cases := unitCases(t)
	said := unitsOf(cases)
	right, several, unknown := 0, 0, 0
	for _, c := range cases {
		counter, _, _ := strings.Cut(c.metric, ".sum")
		switch got := Unit(c.metric); {
		case len(said[c.metric]) > 1 || chipDependent[counter] && !strings.Contains(c.metric, ".pct"):
			if several++; got != UnknownUnit {
				t.Errorf("%s: %q, but ncu gives it several units", c.metric, got)
			}
		case got == c.unit:
			right++
		case got == UnknownUnit:
			unknown++
			t.Errorf("%s: unknown, want %q (%s)", c.metric, c.unit, c.source)
		default:
			t.Errorf("%s: %q, want %q (%s)", c.metric, got, c.unit, c.source)
		}
	}
	t.Logf("%d names and units: %d right, %d of names with several units, %d unknown", len(cases), right, several, unknown)
	if len(cases) < 8000 {
		t.Errorf("only %d names and units", len(cases))
	}
}

// What --query-metrics lists is collected with a submetric.
func TestUnitOfSubmetrics(t *testing.T) {
	cases := unitCases(t)
	said := unitsOf(cases)
	for _, c := range cases {
		unit := c.unit
		if len(said[c.metric]) > 1 {
			unit = UnknownUnit
		}
		want := map[string]string{}
		switch c.source {
		case "counter":
			want = map[string]string{".sum": unit, ".max": unit, ".avg.peak_sustained_elapsed": unit, ".avg.pct_of_peak_sustained_active": "%"}
		case "ratio":
			want = map[string]string{".ratio": unit, ".max_rate": unit, ".pct": "%"}
		case "throughput":
			want = map[string]string{".avg.pct_of_peak_sustained_elapsed": "%"}
		}
		for submetric, unit := range want {
			if got := Unit(c.metric + submetric); got != unit {
				t.Errorf("%s%s: %q, want %q", c.metric, submetric, got, unit)
			}
		}
	}
}

func TestUnitOfRates(t *testing.T) {
	for metric, want := range map[string]string{
		"dram__bytes.sum.peak_sustained_elapsed.per_second":          "byte/s",
		"dram__bytes.sum.per_cycle_in_region":                        "byte/cycle",
		"sm__inst_executed.sum.per_second":                           "inst/s",
		"gpc__cycles_elapsed.max.per_second":                         "hz",
		"smsp__warps_active.avg.per_cycle_elapsed":                   "warp",
		"smsp__warps_active.avg.per_second":                          UnknownUnit, // warps times cycles a second
		"smsp__warps_launched.sum.per_cycle_elapsed":                 UnknownUnit, // no page shows one
		"lts__t_requests.sum.per_second":                             UnknownUnit,
		"l1tex__data_bank_reads.avg.per_second":                      UnknownUnit,
		"pmsampling:sm__ctas_launched.sum":                           "block",
		"breakdown:sm__throughput.avg.pct_of_peak_sustained_elapsed": "%",
		"TPC.TriageCompute.sm__inst_executed_realtime.avg":           "inst",
	} {
		if got := Unit(metric); got != want {
			t.Errorf("%s: %q, want %q", metric, got, want)
		}
	}
}

func TestUnitOfNoMetric(t *testing.T) {
	for _, name := range []string{
		"", "x", "sm", "sm__", "__bytes.sum", "sm__made_up.sum", "made_up__bytes.sum", "sm__made_up", "launch__made_up", "derived__made_up_bytes",
		"sm__inst_executed.sum.per_fortnight", "sm__inst_executed.median", "sm__inst_executed.sum.", "lts__average_sectors_per_thing.ratio",
		"sm__inst_executed .sum", "regex:sm__inst_executed.sum", "sm__inst_executed.sum\n", "Kernel Name", "ID",
	} {
		if got := Unit(name); got != UnknownUnit {
			t.Errorf("%q: %q, want it unknown", name, got)
		}
	}
}

// rawColumns are the columns of the raw page that are no metrics. Those of NVTX hold colons.
var rawColumns = map[string]bool{"ID": true, "Process ID": true, "Process Name": true, "Host Name": true, "Kernel Name": true,
	"Context": true, "Stream": true, "Block Size": true, "Grid Size": true, "Device": true, "CC": true}

func TestUnitOfRawPages(t *testing.T) {
	pages, err := filepath.Glob("../../../shared/captures/ncu/*.raw-base.csv")
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) == 0 {
		t.Skip("no ../shared/captures/ncu here")
	}
	said := unitsOf(unitCases(t))
	for _, page := range pages {
		f, err := os.Open(page)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r := csv.NewReader(f)
		names, err := r.Read()
		if err != nil {
			t.Fatalf("%s: %v", page, err)
		}
		units, err := r.Read()
		if err != nil {
			t.Fatalf("%s: %v", page, err)
		}
		right, unknown := 0, 0
		for i, name := range names {
			if rawColumns[name] || strings.Contains(name, ":Domain:") || strings.Contains(name, " Domain:") {
				continue
			}
			switch got := Unit(name); {
			case got == units[i]:
				right++
			case got == UnknownUnit && (len(said[name]) > 1 || chipDependent[strings.TrimSuffix(name, ".sum")]):
				unknown++
			default:
				t.Errorf("%s: %s: %q, want %q", filepath.Base(page), name, got, units[i])
			}
		}
		t.Logf("%-32s %4d right, %d without a unit of their own", filepath.Base(page), right, unknown)
		if right < 200 {
			t.Errorf("%s: only %d metrics", page, right)
		}
	}
}
