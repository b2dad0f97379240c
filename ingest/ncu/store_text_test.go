package ncu_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"prof/ingest/ncu"
	"prof/ingest/rows/rowstest"
)

// TestStoreFindings: the findings are those of ncu's own details page, word for word.
func TestStoreFindings(t *testing.T) {
	pages, err := filepath.Glob("../../../shared/captures/ncu/*.details.csv")
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) == 0 {
		t.Skip("no ../../../shared/captures/ncu here")
	}
	severity := map[string]string{"ok": "INF", "warning": "WRN", "error": "ERR", "optimization": "OPT"}
	total := 0
	for _, page := range pages {
		reports, err := filepath.Glob(strings.TrimSuffix(page, ".details.csv") + ".ncu-rep*")
		if err != nil || len(reports) != 1 {
			t.Fatal(page, reports, err)
		}
		k, _ := stored(t, reports[0])
		var got []string
		for _, r := range k.Table("ncu_rule") {
			scope, speedup := "", "" // as the page prints them
			if v, ok := r.Get("speedup_ratio").(float64); ok {
				speedup = strconv.FormatFloat(100*v, 'g', 4, 64)
			}
			if r.Get("speedup_scope") != nil {
				scope = r.Text("speedup_scope")
			}
			got = append(got, strings.Join([]string{r.Text("launch_id.ncu_id"), r.Text("section"), r.Text("rule"), severity[r.Text("severity")], scope, speedup, r.Text("message")}, "|"))
		}
		want := pageFindings(t, page)
		compareSorted(t, filepath.Base(page), got, want)
		total += len(want)
	}
	if total < 250 {
		t.Errorf("only %d findings", total)
	}
}

// pageFindings reads the rows of a details page that a rule wrote.
func pageFindings(t *testing.T, path string) (out []string) {
	t.Helper()
	r := csv.NewReader(bytes.NewReader(fileBytes(t, path)))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rule := slices.Index(rows[0], "Rule Name")
	for _, row := range rows[1:] {
		if rule > 0 && len(row) > rule && row[rule] != "" {
			section := row[slices.Index(rows[0], "Section Name")]
			out = append(out, strings.Join([]string{row[0], section, row[rule], row[rule+1], row[rule+3], row[rule+4], row[rule+2]}, "|"))
		}
	}
	return out
}

// sessionWith is a ReportSessionDetails with the settings of an executable, among them its environment.
func sessionWith(secret string) []byte {
	return messageField(3, uintField(1, 5), uintField(2, 1700000000), messageField(9, textField(1, "/home/me/app"), textField(4, "HF_TOKEN="+secret)),
		messageField(4, textField(5, "box")), textField(11, "ncu --set full -o x ./app --token "+secret+" "))
}

// TestStoreNoSecrets: the environment of the profiled program is stored nowhere, and secrets of its command line are masked.
func TestStoreNoSecrets(t *testing.T) {
	const planted = "hf_examplesecret0123456789"
	data := reportWith(blockWith(sessionWith(planted)), blockWith(slices.Concat(uintField(2, 1), stringTable("a")),
		slices.Concat(textField(7, "k()"), metricField(0, textField(1, planted)))))
	if !bytes.Contains(data, []byte("HF_TOKEN="+planted)) {
		t.Fatal("nothing was planted")
	}
	k, infos := stored(t, saved(t, "secret.ncu-rep", data))
	if infos[0].Command != "./app --token '***'" || infos[0].Host != "box" {
		t.Errorf("the command is %q, on %q", infos[0].Command, infos[0].Host)
	}
	searched := 0
	for _, table := range k.Filled() {
		for _, r := range k.Table(table) {
			for _, c := range rowstest.Columns(t)[table] {
				searched++
				if text := r.Text(c); strings.Contains(text, "examplesecret") || strings.Contains(text, "HF_TOKEN") {
					t.Errorf("%s.%s holds %q", table, c, text)
				}
			}
		}
	}
	if searched < 60 {
		t.Errorf("only %d values were searched", searched)
	}
}

// TestStoreOddTexts: texts that are no UTF-8 are stored with replacement characters, as those of the other formats are; an NVTX
// name may be in any encoding.
func TestStoreOddTexts(t *testing.T) {
	const odd, good = "caf\xe9\x00z", "caf\uFFFD\x00z"
	session := messageField(3, messageField(4, textField(1, odd), textField(5, odd)), messageField(6, textField(2, odd)), textField(11, "ncu "+odd))
	data := reportWith(blockWith(slices.Concat(uintField(2, 1), stringTable(odd), messageField(6, uintField(1, 7), textField(3, odd)), session),
		slices.Concat(uintField(1, 10), textField(5, odd), textField(6, odd), textField(7, odd), metricField(0, textField(1, odd)),
			state(thread(10, stack(1, open{odd, 1}))),
			messageField(17, textField(1, odd), textField(2, odd), messageField(4, messageField(2, textField(1, odd), textField(2, odd)))),
			messageField(19, textField(1, odd), textField(2, odd), messageField(3, messageField(1,
				messageField(1, textField(1, odd), uintField(2, 2)), messageField(8, textField(2, odd), textField(5, odd))))))))
	k, infos := stored(t, saved(t, "odd.ncu-rep", data))
	for _, c := range []string{"ncu_range.name", "range_path.name", "ncu_metric_name.name", "kernel_name.name", "kernel_name.short_name", "ncu_launch.symbol",
		"ncu_metric.text", "ncu_rule.message", "ncu_rule.rule", "ncu_rule.title", "ncu_rule_metric.metric", "ncu_rule_metric.advice", "ncu_section.section",
		"ncu_section.title", "ncu_section.label", "device.name", "process.name"} {
		table, column, _ := strings.Cut(c, ".")
		if got := slices.Compact(k.Table(table).Texts(column)); !slices.Equal(got, []string{good}) {
			t.Errorf("%s is %q", c, got)
		}
	}
	if infos[0].Host != good || infos[0].Command != good {
		t.Errorf("the host is %q, the command %q", infos[0].Host, infos[0].Command)
	}
}

// TestStoreEmpty: a report without results is stored with a warning.
func TestStoreEmpty(t *testing.T) {
	_, infos := stored(t, saved(t, "none.ncu-rep", reportWith(blockWith(sessionWith("")))))
	if w := infos[0].Warnings; len(w) != 1 || !strings.Contains(w[0], "nothing was profiled") {
		t.Errorf("warned %q", w)
	}
	if _, _, err := tryStored(t, saved(t, "bad.ncu-rep", reportWith(sized([]byte{8})))); !errors.Is(err, ncu.ErrDamaged) {
		t.Errorf("a damaged report: %v", err)
	}
}

// TestStoreSeveral: results of several reports of one run are told apart; their names are shared.
func TestStoreSeveral(t *testing.T) {
	names := []string{"kernels-range", "kernels-prefill", "llama", "variants-graph"}
	var paths, want []string
	for i, name := range names {
		paths = append(paths, "../../testdata/ncu/"+name+".ncu-rep.gz")
		_, got := results(t, reportOf(t, name))
		for _, x := range got {
			want = append(want, fmt.Sprintf("%d|%d|%d", len(want), i+1, x.ID))
		}
	}
	k, _ := stored(t, paths...)
	var got []string
	for _, r := range k.Table("ncu_launch").By("launch_id") {
		got = append(got, fmt.Sprintf("%d|%s|%s", r.Int("launch_id")-1, r.Text("source_id"), r.Text("ncu_id")))
	}
	if !slices.Equal(got, want) {
		t.Errorf("stored are %q, want %q", got, want)
	}
	// section0 is what each report calls the section of its own --metrics.
	noFaults(t, k, "a fact is there twice", "a place in a section is taken")
	if facts, parts := k.Table("source_fact").Repeated("source_id key"), k.Table("source_part").Repeated("source_id part"); len(facts)+len(parts) > 0 {
		t.Errorf("there twice: %q, %q", facts, parts)
	}
}

// TestStoreFacts: what a report says of the capture is kept, and what became of its parts.
func TestStoreFacts(t *testing.T) {
	k, infos := stored(t, "../../testdata/ncu/kernels-prefill.ncu-rep.gz")
	k.Table("source_fact").By("key").Expect(t, "key value",
		"capture.clock_control|none",
		"capture.command|/opt/nvidia/nsight-compute/2025.3.1/target/linux-desktop-glibc_2_11_3-x64/ncu --set basic --nvtx --nvtx-include LLM@prefill/ "+
			"--clock-control none -f -o ncu/kernels-prefill ./kernels ",
		"capture.id|ncu vm 1795254217 1264", "capture.nvtx_include|LLM@prefill/", "capture.replay_mode|kernel (ncu's default)", "capture.set|basic",
		"cpu.architecture|x86_64", "cpu.description|Intel(R) Xeon(R) Processor", "driver.cuda_version|13.0", "driver.version|580.159", "host.name|vm",
		"ncu.perfworks_version|0.1.0", "ncu.version|2025.3.1.0 (build 36398880) (public-release)", "os.description|Linux #1 SMP PREEMPT_DYNAMIC @0")
	k.Table("process").Expect(t, "pid name", "1264|/var/c/kernels")
	if i := infos[0]; i.Command != "./kernels" || i.Host != "vm" || i.StartedAt.UTC().Format(time.DateTime) != "2026-11-21 09:43:37" {
		t.Errorf("the source is %+v", i)
	}
	_, parts := takeApart(t, reportOf(t, "kernels-prefill"))
	sources, instances, values := 0, 0, 0
	for _, p := range parts {
		sources += len(p.entries) - p.results
		for _, e := range p.entries[len(p.entries)-p.results:] {
			for _, m := range fieldsOf(t, e, 13) {
				instances += len(fieldsOf(t, m, 3))
				values += len(fieldsOf(t, m, 2))
			}
		}
	}
	k.Table("source_part").By("part").Expect(t, "part read_count stored_count reason", "kernel results|4|4|~",
		fmt.Sprintf("metrics|%d|%d|~", values, values), fmt.Sprintf("other metric instances|%d|0|values per opcode and setting, and samples of the time before and after kernels, are not stored", instances),
		fmt.Sprintf("sources|%d|0|compiled code is not stored; of instructions with values, their lines are", sources))
}

// TestRuleTables: tables that findings come with are stored cell by cell; texts as a person reads them.
func TestRuleTables(t *testing.T) {
	column := func(header string, cells ...[]byte) []byte {
		return messageField(2, append([][]byte{textField(1, header)}, cells...)...)
	}
	packed := protowire.AppendVarint(protowire.AppendVarint(nil, 7), math.MaxUint64) // 7 and -1
	item := messageField(1, messageField(1, textField(1, "two lines"), uintField(2, 2)),
		messageField(12, messageField(1, textField(1, "Lines")), column("Location", textField(4, "@source:k.cu:10:k.cu, line 11@"), textField(4, "else")),
			column("Count", textField(6, string(packed))), column("Share", doubleField(5, 0.5), doubleField(5, math.NaN()))),
		messageField(12, column("Single", uintField(6, 3))))
	k, _ := stored(t, saved(t, "table.ncu-rep", oneKernel(nil, uintField(1, 7), messageField(19, textField(1, "Rule"), messageField(3, item)))))
	k.Table("ncu_rule_cell").Expect(t, "finding_id table_number title row_number column_number header value text",
		"1|1|Lines|1|1|Location|~|k.cu, line 11", "1|1|Lines|2|1|Location|~|else", "1|1|Lines|1|2|Count|7|~", "1|1|Lines|2|2|Count|-1|~",
		"1|1|Lines|1|3|Share|0.5|~", "1|1|Lines|2|3|Share|~|~", "1|2||1|1|Single|3|~")
}
