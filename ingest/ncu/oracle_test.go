package ncu_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"prof/ingest/rows/rowstest"
	"prof/internal/mask"
)

// oracle is a line of what NVIDIA's own reader says of a report: the first is of the report, the others are of its results.
type oracle struct {
	Report    string
	Units     map[string]*string // nil where two orders of asking give two
	Kind      string
	Name      string
	Symbol    string
	Function  string
	Metrics   map[string]any              // a number, a text, nil without a value of its own
	At        map[string][][2]any         // address and value, of those that are not 0
	Samples   map[string][][4]json.Number // start, end, value, number
	Code      map[string][4]any           // by address: file, line, instruction, line of PTX
	Functions []json.Number               // addresses
	Findings  []struct {
		Rule, Title, Section, Severity, Message, Scope string
		Speedup                                        float64
		Metrics, Cells                                 [][3]any
	}
	Ranges   [][3]string // style, domain, name
	Files    map[string]string
	Sections [][3]any // identifier, title, names of metrics
}

const oracleProgram = "../../testdata/oracle/ncu.py"

// oraclePython is the python that has NVIDIA's reader; "" for none.
var oraclePython = sync.OnceValue(func() string {
	python := cmp.Or(os.Getenv("PROF_TEST_NCU_REPORT"), "python3")
	if exec.Command(python, oracleProgram).Run() != nil {
		return ""
	}
	return python
})

// asked returns what NVIDIA's own reader says of a report. The test is skipped where it is not installed.
func asked(t *testing.T, report string) (of oracle, results []oracle) {
	t.Helper()
	if oraclePython() == "" {
		t.Skip("NVIDIA's reader is not installed: pip install ncu-report==2026.3.1, and PROF_TEST_NCU_REPORT names its python")
	}
	c := exec.CommandContext(t.Context(), oraclePython(), oracleProgram, report)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Buffer(nil, len(out)+1); lines.Scan(); {
		var o oracle
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.UseNumber()
		if err := d.Decode(&o); err != nil {
			t.Fatalf("%v: %.200s", err, lines.Bytes())
		}
		results = append(results, o)
	}
	if err := lines.Err(); err != nil || len(results) < 2 {
		t.Fatalf("%d lines: %v", len(results), err)
	}
	return results[0], results[1:]
}

// inlined are lines of instructions of an inlined function: the reader says the line that calls it, prof the line in it, as ncu's source page does.
var inlined = strings.NewReplacer(
	"|kernels.cu|12|LDC|atom.global.add.f64", "|sm_60_atomic_functions.hpp|294|LDC|atom.global.add.f64",
	"|kernels.cu|12|REDG|atom.global.add.f64", "|sm_60_atomic_functions.hpp|294|REDG|atom.global.add.f64",
)

// TestOracle: what is stored of every report is what NVIDIA's own reader says of it: numbers, texts, units, values at instructions with their lines and
// operations, samples, findings with their estimates, ranges, sections.
func TestOracle(t *testing.T) {
	for _, file := range allReports(t) {
		t.Run(strings.TrimPrefix(filepath.ToSlash(file), "../../"), func(t *testing.T) {
			of, results := asked(t, rowstest.Plain(t, file))
			k, _ := stored(t, file)
			var want said
			for i := range results {
				want.add(i, &results[i])
			}
			got := saidOf(k)
			compareSorted(t, "results", got.results, want.results)
			compareSorted(t, "metrics", got.metrics, want.metrics)
			compareSorted(t, "values at instructions", got.at, want.at)
			compareSorted(t, "instructions", got.code, want.code)
			compareSorted(t, "samples", got.samples, want.samples)
			compareSorted(t, "findings", got.findings, want.findings)
			compareSorted(t, "metrics of findings", got.evidence, want.evidence)
			compareSorted(t, "cells of findings", got.cells, want.cells)
			compareSorted(t, "ranges", got.ranges, want.ranges)
			compareSorted(t, "source texts", got.texts, want.texts)
			compareSections(t, k, results)
			units := compareUnits(t, k, of.Units)
			t.Logf("%d results, %d metrics, %d units, %d values at %d instructions, %d samples, %d findings, %d ranges, %d texts",
				len(got.results), len(got.metrics), units, len(got.at), len(got.code), len(got.samples), len(got.findings), len(got.ranges), len(got.texts))
		})
	}
}

// allReports lists the reports of testdata and of the larger set where it is there.
func allReports(t *testing.T) (out []string) {
	t.Helper()
	err := filepath.WalkDir("../../testdata", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".ncu-rep.gz") {
			out = append(out, path)
		}
		return err
	})
	if err != nil || len(out) < 9 {
		t.Fatalf("%d reports: %v", len(out), err)
	}
	shared, err := filepath.Glob("../../../shared/captures/*/*.ncu-rep*")
	if err != nil {
		t.Fatal(err)
	}
	return append(out, shared...)
}

// said is what a report says, in lines that begin with the number of the result.
type said struct{ results, metrics, at, code, samples, findings, evidence, cells, ranges, texts []string }

// add adds what the oracle says of a result.
func (s *said) add(i int, o *oracle) {
	if o.Kind == "kernel" {
		s.results = append(s.results, fmt.Sprintf("%d|kernel|%s|%s|%s", i, o.Name, o.Function, o.Symbol))
	} else {
		s.results = append(s.results, fmt.Sprintf("%d|%s|~|~|~", i, o.Kind))
	}
	for name, v := range o.Metrics {
		if v != nil {
			s.metrics = append(s.metrics, fmt.Sprintf("%d|%s|%s", i, name, oracleText(v)))
		}
	}
	var functions []uint64
	for _, at := range o.Functions {
		functions = append(functions, address(at))
	}
	slices.Sort(functions)
	place := func(at uint64) string {
		n, exact := slices.BinarySearch(functions, at)
		if !exact {
			n--
		}
		if n < 0 {
			return "nowhere"
		}
		return fmt.Sprint(at - functions[n])
	}
	withText := map[string]bool{}
	seen := map[uint64]bool{}
	for metric, values := range o.At {
		for _, v := range values {
			at := address(v[0])
			s.at = append(s.at, fmt.Sprintf("%d|%s|%s|%s", i, metric, place(at), oracleText(v[1])))
			if seen[at] {
				continue
			}
			seen[at] = true
			code := o.Code[fmt.Sprint(at)]
			line := fmt.Sprintf("%d|%s|%s|%s|%s|%s", i, place(at), path.Base(fmt.Sprint(code[0])), code[1], operation(fmt.Sprint(code[2])), code[3])
			line = inlined.Replace(line)
			s.code = append(s.code, line)
			withText[strings.Split(line, "|")[2]] = true
		}
	}
	for metric, list := range o.Samples {
		for _, x := range list {
			s.samples = append(s.samples, fmt.Sprintf("%d|%s|%s|%s|%s|%s", i, metric, x[0], x[1], oracleText(x[2]), x[3]))
		}
	}
	for file, text := range o.Files {
		if line := path.Base(file) + "|" + mask.Stored(text); text != "" && withText[path.Base(file)] && !slices.Contains(s.texts, line) {
			s.texts = append(s.texts, line)
		}
	}
	n := 0
	for _, f := range o.Findings {
		if f.Message == "" {
			continue
		}
		n++
		speedup := "~"
		if f.Scope != "" {
			speedup = floatText(f.Speedup / 100)
		}
		s.findings = append(s.findings, strings.Join([]string{fmt.Sprint(i), fmt.Sprint(n), f.Rule, f.Title, f.Section, f.Severity, mask.Stored(f.Message), cmp.Or(f.Scope, "~"), speedup}, "|"))
		for _, m := range f.Metrics {
			s.evidence = append(s.evidence, fmt.Sprintf("%d|%d|%s|%s|%s", i, n, m[0], oracleText(m[1]), cmp.Or(fmt.Sprint(m[2]), "~")))
		}
		for _, c := range f.Cells {
			s.cells = append(s.cells, fmt.Sprintf("%d|%d|%s|%s|%s", i, n, c[0], c[1], mask.Stored(oracleText(c[2]))))
		}
	}
	for _, r := range o.Ranges {
		s.ranges = append(s.ranges, fmt.Sprintf("%d|%s|%s|%s", i, r[0], strings.TrimPrefix(r[1], "<default domain>"), r[2]))
	}
}

// saidOf is what is stored, as said.
func saidOf(k *rowstest.Kept) (s said) {
	launch := func(r rowstest.Row) int64 { return r.Int("launch_id") - 1 }
	value := func(r rowstest.Row) string {
		if v, ok := r.Get("value").(float64); ok {
			return floatText(v)
		}
		return "~"
	}
	for _, r := range k.Table("ncu_launch") {
		s.results = append(s.results, fmt.Sprintf("%d|%s|%s|%s|%s", launch(r), r.Text("kind"), r.Text("kernel_name_id.name"), r.Text("kernel_name_id.short_name"), r.Text("symbol")))
	}
	for _, r := range k.Table("ncu_metric") {
		text := r.Text("text")
		if text == "~" {
			text = value(r)
		}
		s.metrics = append(s.metrics, fmt.Sprintf("%d|%s|%s", launch(r), r.Text("metric_id.name"), text))
	}
	files, texts, instructions := map[string]string{}, map[string][]string{}, map[string]string{}
	for _, r := range k.Table("ncu_source_file") {
		name := path.Base(r.Text("name"))
		files[r.Text("file_id")] = name
		if text, ok := r.Get("text").(string); ok {
			texts[r.Text("file_id")] = strings.Split(text, "\n")
			if !strings.HasSuffix(name, ".ptx") {
				s.texts = append(s.texts, name+"|"+text)
			}
		}
	}
	for _, r := range k.Table("ncu_instruction") {
		ptx := ""
		if lines, n := texts[r.Text("ptx_file_id")], int(r.Int("ptx_line")); n > 0 && n <= len(lines) {
			ptx = strings.TrimSpace(lines[n-1])
		}
		instructions[r.Text("function_id")+"+"+r.Text("offset_bytes")] = fmt.Sprintf("%s|%d|%s|%s", cmp.Or(files[r.Text("file_id")], "."), r.Int("line"), strings.TrimPrefix(r.Text("opcode"), "~"), ptx)
	}
	seen := map[string]bool{}
	for _, r := range k.Table("ncu_instance") {
		s.at = append(s.at, fmt.Sprintf("%d|%s|%s|%s", launch(r), r.Text("metric_id.name"), r.Text("offset_bytes"), value(r)))
		at := r.Text("function_id") + "+" + r.Text("offset_bytes")
		line := fmt.Sprintf("%d|%s|%s", launch(r), r.Text("offset_bytes"), instructions[at])
		if key := fmt.Sprint(launch(r), at); !seen[key] {
			seen[key] = true
			s.code = append(s.code, line)
		}
	}
	for _, r := range k.Table("ncu_sample") {
		s.samples = append(s.samples, fmt.Sprintf("%d|%s|%d|%d|%s|%d", launch(r), r.Text("metric_id.name"), r.Int("start_ns"), r.Int("end_ns"), value(r), r.Int("sample_count")))
	}
	for _, r := range k.Table("ncu_rule") {
		speedup := "~"
		if v, ok := r.Get("speedup_ratio").(float64); ok {
			speedup = floatText(v)
		}
		s.findings = append(s.findings, fmt.Sprintf("%d|%d|%s|%s", launch(r), r.Int("finding_id"), strings.Join([]string{r.Text("rule"), r.Text("title"), r.Text("section"), r.Text("severity"), r.Text("message"), r.Text("speedup_scope")}, "|"), speedup))
	}
	for _, r := range k.Table("ncu_rule_metric") {
		s.evidence = append(s.evidence, fmt.Sprintf("%d|%d|%s|%s|%s", launch(r), r.Int("finding_id"), r.Text("metric"), value(r), r.Text("advice")))
	}
	for _, r := range k.Table("ncu_rule_cell") {
		text := r.Text("text")
		if text == "~" {
			text = value(r)
		}
		s.cells = append(s.cells, fmt.Sprintf("%d|%d|%s|%s|%s", launch(r), r.Int("finding_id"), r.Text("title"), r.Text("header"), text))
	}
	for _, r := range k.Table("ncu_range") {
		s.ranges = append(s.ranges, fmt.Sprintf("%d|%s|%s|%s", launch(r), r.Text("style"), r.Text("domain"), r.Text("name")))
	}
	return s
}

// address is a whole number of the oracle.
func address(v any) uint64 {
	at, _ := strconv.ParseUint(fmt.Sprint(v), 10, 64)
	return at
}

func floatText(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// oracleText is a value as floatText writes it, of a whole number that no float64 holds, its digits.
func oracleText(v any) string {
	n, ok := v.(json.Number)
	if !ok {
		text := fmt.Sprint(v)
		return cmp.Or(map[string]string{"nan": "NaN", "inf": "+Inf", "-inf": "-Inf"}[text], text)
	}
	f, err := n.Float64()
	if u, uerr := strconv.ParseUint(n.String(), 10, 64); uerr == nil && uint64(f) != u || err != nil {
		return n.String()
	}
	return floatText(f)
}

var predicate = regexp.MustCompile(`^@\S+\s+`)

// operation is an instruction's operation without its modifiers.
func operation(instruction string) string {
	instruction = predicate.ReplaceAllString(instruction, "")
	if end := strings.IndexAny(instruction, ". ;"); end >= 0 {
		return instruction[:end]
	}
	return instruction
}

// pageUnits are units that ncu's raw page prints and the reader does not give: it has one in byte or in sector by what was asked before, and the other
// one anew.
var pageUnits = map[string]string{"derived__memory_l2_theoretical_sectors_global_excessive": "sector", "idc__requests.sum": ""}

// compareUnits compares the units of metrics and gives their number.
func compareUnits(t *testing.T, k *rowstest.Kept, units map[string]*string) int {
	t.Helper()
	seen := map[string]bool{}
	for _, r := range k.Table("ncu_metric") {
		name, unit := r.Text("metric_id.name"), r.Text("metric_id.unit")
		want := units[name]
		if seen[name] || want == nil || unit == "~" && unitsUnknown.MatchString(name) {
			continue
		}
		seen[name] = true
		if byPage, differs := pageUnits[name]; unit != *want && (!differs || unit != byPage) {
			t.Errorf("the unit of %s is %q, want %q", name, unit, *want)
		}
	}
	return len(seen)
}

// compareSections compares what the first result of each kind shows at the head of its sections.
func compareSections(t *testing.T, k *rowstest.Kept, results []oracle) {
	t.Helper()
	kinds := map[string]bool{}
	for _, o := range results {
		if kinds[o.Kind] {
			continue
		}
		kinds[o.Kind] = true
		for _, s := range o.Sections {
			metrics := s[2].([]any)
			at := 0
			for _, r := range k.Table("ncu_section").Is("section", fmt.Sprint(s[0])) {
				if at < len(metrics) && r.Text("metric_id.name") == metrics[at] && r.Text("title") == s[1] {
					at++
				}
			}
			if at < len(metrics) {
				t.Errorf("section %s: %s is not there, or in another place", s[0], metrics[at])
			}
		}
	}
}
