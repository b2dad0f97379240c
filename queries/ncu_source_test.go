package queries_test

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// linesAndNone has a report with source lines and one without.
var linesAndNone = testkit.Run{Name: "r", Files: []string{"ncu/source/lines.ncu-rep.gz", "ncu/source/nolines.ncu-rep.gz"}, Facts: []string{"ncu_measure", "caveat"}}

// pageLine is a row of a line on ncu's page of source and code together, by column.
type pageLine map[string]string

// sourcePage reads the rows of lines, by kernel and line number, of the file that was compiled.
func sourcePage(t *testing.T) map[string]pageLine {
	t.Helper()
	out := map[string]pageLine{}
	var kernel, file string
	var columns []string
	for _, line := range strings.Split(string(unpacked(t, "../testdata/ncu/source/lines.cuda-sass.csv.gz")), "\n") {
		row := strings.Split(strings.Trim(strings.TrimRight(line, "\r,"), `"`), `","`) // quotes within are not escaped
		switch {
		case row[0] == "File Path":
			file = row[1][strings.LastIndex(row[1], "/")+1:]
		case row[0] == "Function Name":
			kernel = row[1]
		case row[0] == "Line No":
			columns = row
		case len(row) == len(columns) && row[0] != "":
			p := pageLine{}
			for i, name := range columns {
				if _, has := p[name]; !has { // the second Source is the instruction's
					p[name] = row[i]
				}
			}
			out[fmt.Sprintf("%s %s:%s", kernel, file, row[0])] = p
		}
	}
	return out
}

func (p pageLine) number(t *testing.T, column string) float64 {
	t.Helper()
	if _, has := p[column]; !has { // no instruction of the kernel has a value
		return 0
	}
	n, err := strconv.ParseFloat(p[column], 64)
	if err != nil {
		t.Fatalf("%s: %v", column, err)
	}
	return n
}

// cell is a cell that holds a number.
func cell(t *testing.T, f *frame.Frame, row int, name string) float64 {
	t.Helper()
	switch v := f.Rows[row][f.Index(name)].(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	t.Fatalf("row %d: %s is %v", row, name, f.Rows[row][f.Index(name)])
	return 0
}

// TestSourceQueries compares what is measured at each line with ncu's own page (--page source --print-source cuda,sass).
func TestSourceQueries(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	page := sourcePage(t)
	f := testkit.Query(t, w, "ncu-source", queries.Args{"run": "ncu-lines"})
	if len(f.Rows) != 9 {
		t.Fatalf("%d lines", len(f.Rows))
	}
	samples, kernels := map[string]float64{}, map[string]float64{}
	inlined := page["reduce_sum(int, const double *, double *) sm_60_atomic_functions.hpp:294"]
	for i, row := range f.Rows {
		kernel, file, line := row[f.Index("kernel")].(string), row[f.Index("file")].(string), row[f.Index("line")].(int64)
		key := fmt.Sprintf("%s %s:%d", kernel, file[strings.LastIndex(file, "/")+1:], line)
		p := page[key]
		if p == nil {
			t.Fatalf("%s is not on the page", key)
		}
		for column, name := range map[string]string{"samples": "# Samples", "executed_count": "Instructions Executed", "divergent_branch_count": "Divergent Branches", "global_sector_count": "L2 Theoretical Sectors Global",
			"global_sector_ideal_count": "L2 Theoretical Sectors Global Ideal", "shared_wavefront_count": "L1 Wavefronts Shared", "shared_wavefront_ideal_count": "L1 Wavefronts Shared Ideal"} {
			want := p.number(t, name)
			if line == 12 { // ncu counts inlined code at the line that calls it too
				want -= inlined.number(t, name)
			}
			if got := cell(t, f, i, column); got != want {
				t.Errorf("%s: %s is %v, %v on the page", key, column, got, want)
			}
		}
		if line != 12 {
			if got, want := cell(t, f, i, "active_threads")*cell(t, f, i, "executed_count"), p.number(t, "Predicated-On Thread Instructions Executed"); math.Abs(got-want) > 1e-6*want {
				t.Errorf("%s: %v threads, %v on the page", key, got, want)
			}
			most := 0.
			for name := range p {
				if reason, isStall := strings.CutPrefix(name, "stall_"); isStall && reason != "selected" && !strings.Contains(reason, "Not Issued") {
					most = max(most, p.number(t, name))
				}
			}
			if got := cell(t, f, i, "stall_ratio") * cell(t, f, i, "samples"); math.Abs(got-most) > 1e-6 {
				t.Errorf("%s: its main reason has %v samples, %v on the page", key, got, most)
			}
		}
		if got := row[f.Index("code")].(string); got != strings.TrimSpace(p["Source"]) {
			t.Errorf("%s: %q", key, got)
		}
		samples[kernel] += cell(t, f, i, "samples")
		kernels[kernel] += cell(t, f, i, "share_ratio")
	}
	for kernel, share := range kernels {
		if math.Abs(share-1) > 1e-12 {
			t.Errorf("the lines of %s have %v of its samples", kernel, share)
		}
	}
	for _, by := range []string{"line", "ptx", "instruction"} {
		f := testkit.Query(t, w, "ncu-source", queries.Args{"run": "ncu-lines", "by": by})
		sums, instructions := map[string]float64{}, 0.
		for i, row := range f.Rows {
			sums[row[f.Index("kernel")].(string)] += cell(t, f, i, "samples")
			instructions += cell(t, f, i, "instruction_count")
			if (row[f.Index("code_offset")] == nil) != (by != "instruction") || row[f.Index("line")] == nil || strings.HasSuffix(row[f.Index("file")].(string), ".ptx") != (by == "ptx") {
				t.Errorf("by %s: %v", by, row)
			}
		}
		if fmt.Sprint(sums) != fmt.Sprint(samples) || instructions != 494 {
			t.Errorf("by %s: %v samples, want %v, and %v instructions", by, sums, samples, instructions)
		}
	}
	if top := testkit.Query(t, w, "ncu-source", queries.Args{"run": "ncu-lines", "top": "2"}); len(top.Rows) != 2 || cell(t, top, 0, "samples")+cell(t, top, 1, "samples") != 18836+15665 {
		t.Errorf("%v", top.Rows)
	}
}

// TestPTXQueries: a line of PTX has the values of its instructions and the text of ncu's own page, code without PTX is one row, and a kernel
// that was compiled from two texts has the lines of each.
func TestPTXQueries(t *testing.T) {
	t.Parallel()
	report := unpacked(t, "../testdata/ncu/source/triton.ncu-rep.gz")
	report = bytes.Replace(report, []byte(".version 8.7\x00"), []byte(".version 8.6\x00"), 1)
	report = bytes.Replace(report, []byte("\x10\xc2\x9e\xa4\xd8\x06"), []byte("\x10\xc3\x9e\xa4\xd8\x06"), 1) // the time: else it is the same capture
	other := filepath.Join(t.TempDir(), "other.ncu-rep")
	if err := os.WriteFile(other, report, 0o600); err != nil {
		t.Fatal(err)
	}
	w := testkit.Warehouse(t, testkit.Run{Name: "r", Files: []string{"ncu/source/lines.ncu-rep.gz", "ncu/source/triton.ncu-rep.gz", other, "ncu/source/nolines.ncu-rep.gz"}, Facts: []string{"ncu_measure", "caveat"}})
	text := map[string]string{} // of Triton's kernel by line
	for _, line := range strings.Split(string(unpacked(t, "../testdata/ncu/source/triton.ptx.csv.gz")), "\n") {
		row := strings.SplitN(strings.Trim(strings.TrimRight(line, "\r"), `"`), `","`, 2)
		text[row[0]] = row[len(row)-1]
	}
	f := testkit.Query(t, w, "ncu-source", queries.Args{"run": "r", "by": "ptx"})
	var got []string
	files, lineless := map[string]int{}, 0
	for _, row := range f.Rows {
		kernel, line := row[f.Index("kernel")].(string), row[f.Index("line")]
		if line == nil {
			lineless++
			if row[f.Index("file")] != nil || row[f.Index("code")] != nil || !strings.HasPrefix(kernel, "nvjet_") {
				t.Errorf("%v has no line", row)
			}
			continue
		}
		if row[f.Index("samples")] == nil || row[f.Index("executed_count")] == nil {
			t.Fatal(row)
		}
		got = append(got, fmt.Sprintf("[%v %v %v %v %v %v]", kernel, row[f.Index("file")], line, row[f.Index("instruction_count")], row[f.Index("samples")], row[f.Index("executed_count")]))
		if kernel == "add" {
			files[row[f.Index("file")].(string)]++
			if want := strings.TrimSpace(strings.ReplaceAll(text[fmt.Sprint(line)], "\t", " ")); row[f.Index("code")] != want {
				t.Errorf("line %v is %q, want %q", line, row[f.Index("code")], want)
			}
		}
	}
	want := rows(t, w, `SELECT k.name, p.name, i.ptx_line, count(DISTINCT i.offset_bytes), coalesce(sum(x.value) FILTER (n.name = 'smsp__pcsamp_sample_count'), 0)::BIGINT, coalesce(sum(x.value) FILTER (n.name = 'inst_executed'), 0)::BIGINT
		FROM ncu_instruction i JOIN ncu_source_file p ON p.source_id = i.source_id AND p.file_id = i.ptx_file_id JOIN ncu_instance x ON x.source_id = i.source_id AND x.function_id = i.function_id AND x.offset_bytes = i.offset_bytes
		JOIN ncu_metric_name n USING (metric_id) JOIN ncu_launch l ON l.launch_id = x.launch_id JOIN kernel_name k USING (kernel_name_id) GROUP BY ALL`)
	slices.Sort(got)
	slices.Sort(want)
	if len(got) < 150 || !slices.Equal(got, want) {
		t.Errorf("the lines are %v, want %v", got, want)
	}
	if counts := slices.Sorted(maps.Values(files)); len(counts) != 2 || counts[0] != counts[1] || lineless != 1 {
		t.Errorf("texts of the kernel %v, %d kernels without lines", files, lineless)
	}
	if notes := strings.Join(f.Notes, "\n"); !strings.Contains(notes, "no lines of PTX of 1 of 6 kernels") || strings.Contains(notes, "no source") {
		t.Errorf("the notes are %s", notes)
	}
}

// TestHotspots: the estimated times of all lines are the durations of the launches, and code without lines is shown by instruction.
func TestHotspots(t *testing.T) {
	t.Parallel()
	w := testkit.Warehouse(t, linesAndNone)
	f := testkit.Query(t, w, "ncu-hotspots", queries.Args{"run": "r", "top": "0"})
	sol := testkit.Query(t, w, "kernel-sol", queries.Args{"run": "r"})
	var time, share, want float64
	var withoutLines []string
	for i, row := range f.Rows {
		time += cell(t, f, i, "time_ns")
		share += cell(t, f, i, "time_ratio")
		if i > 0 && cell(t, f, i, "time_ns") > cell(t, f, i-1, "time_ns") {
			t.Errorf("row %d takes more time than the one before", i)
		}
		if row[f.Index("line")] == nil {
			withoutLines = append(withoutLines, row[f.Index("opcode")].(string))
		}
	}
	for i := range sol.Rows {
		want += cell(t, sol, i, "duration_ns")
	}
	if len(sol.Rows) != 5 || math.Abs(time-want) > 1e-6*want || math.Abs(share-1) > 1e-9 {
		t.Errorf("the lines take %v ns, %v of all; the launches %v", time, share, want)
	}
	if first := f.Rows[0]; first[f.Index("line")] != int64(9) || first[f.Index("stall")] != "mio throttle" || first[f.Index("opcode")] != "LDS" {
		t.Errorf("the first is %v", first)
	}
	if len(withoutLines) < 20 || withoutLines[0] != "NANOSLEEP" || !slices.Contains(withoutLines, "HGMMA") {
		t.Errorf("instructions without lines: %v", withoutLines)
	}
	if notes := strings.Join(f.Notes, "\n"); !strings.Contains(notes, "no source lines of 1 of 5 kernels") || !strings.Contains(notes, "mio throttle: the warp waits") {
		t.Errorf("the notes are %s", notes)
	}
}

// TestSourceLeaves: a report that is taken out of a run takes its instructions, lines and texts along, and leaves those of another.
func TestSourceLeaves(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, linesAndNone)
	stored := func(source int) []string {
		return rows(t, w, fmt.Sprintf(`SELECT (SELECT count(*) FROM ncu_instance WHERE source_id = %[1]d), (SELECT count(*) FROM ncu_instruction WHERE source_id = %[1]d), (SELECT count(*) FROM ncu_function WHERE source_id = %[1]d),
			(SELECT count(*) FROM ncu_source_file WHERE source_id = %[1]d)`, source))
	}
	of := rows(t, w, `SELECT source_id FROM source ORDER BY path LIKE '%nolines%'`)
	lined, lineless := int(of[0][1]-'0'), int(of[1][1]-'0')
	other := stored(lineless)
	if got := stored(lined); got[0] != "[4419 494 4 3]" || other[0] == "[0 0 0 0]" {
		t.Errorf("stored are %v and %v", got, other)
	}
	if err := schema.ClearSources(t.Context(), w.DB, runID(t, w, "r"), fmt.Sprint(lined)); err != nil {
		t.Fatal(err)
	}
	if got := stored(lined); got[0] != "[0 0 0 0]" || stored(lineless)[0] != other[0] {
		t.Errorf("left are %v and %v", got, stored(lineless))
	}
}
