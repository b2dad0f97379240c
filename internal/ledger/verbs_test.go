package ledger

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"prof/internal/cli"
	"prof/internal/golden"
	"prof/internal/testkit"
)

// verbs are commands on the runs of the demo, by the file that holds what they print.
var verbs = map[string]string{
	"check":                     "check --baseline sdpa-1 --run eager --format json",
	"check-rule":                "check --baseline sdpa-1 --run sdpa-2 --format json --rule stage.decode.gpu_busy_ns<=+5% --rule stage.*.launches<=+0",
	"diff-kernel":               "diff sdpa-1 eager --by kernel --format json",
	"diff-stage":                "diff sdpa-1 sdpa-2 --by stage --format json",
	"diff-family":               "diff profiled llama --by family --format json",
	"diff-operator":             "diff operators profiled --by operator --format json",
	"diff-table":                "diff sdpa-1 eager",
	"trend":                     "trend --format json",
	"runs":                      "runs --format json",
	"model":                     "model " + testkit.Path("model/deepseek-ocr.config.json") + " --prefill 681 --decode 16 --images 1",
	"explain-kernels":           "explain kernels --format json",
	"explain-two-gpus":          "explain two-gpus --format json",
	"explain-profiled":          "explain profiled --format json",
	"explain-operators":         "explain operators --format json",
	"explain-llama":             "explain llama --format json",
	"explain-llama-table":       "explain llama",
	"show-kernels":              "show kernels",
	"show-two-gpus":             "show two-gpus",
	"show-profiled":             "show profiled",
	"show-operators":            "show operators",
	"show-llama":                "show llama",
	"show-llama-json":           "show llama --format json",
	"show-sdpa-1":               "show sdpa-1",
	"metrics-kernels":           "report kernels --out - --file metrics.json",
	"metrics-two-gpus":          "report two-gpus --out - --file metrics.json",
	"metrics-profiled":          "report profiled --out - --file metrics.json",
	"metrics-operators":         "report operators --out - --file metrics.json",
	"metrics-llama":             "report llama --out - --file metrics.json",
	"report-llama":              "report llama --out - --file report.md",
	"stakeholder-summary-llama": "report llama --out - --file stakeholder_summary.md",
}

// number is a fraction of more than 12 digits, see cell.
var number = regexp.MustCompile(`-?\d+\.\d{6,}(e[+-]?\d+)?`)

// TestVerbs runs verbs on the runs of the demo and on runs of prof capture, in a home of their own.
func TestVerbs(t *testing.T) {
	home := filepath.Join(t.TempDir(), ".prof")
	testkit.CopyHome(t, home, testkit.Demo...)
	t.Setenv("COLUMNS", "120")
	for name, line := range verbs {
		var out, errs bytes.Buffer
		code := cli.Main(append([]string{"prof", "--home", home}, strings.Fields(line)...), strings.NewReader(""), &out, &errs)
		said := strings.ReplaceAll(placed.Replace(out.String()+errs.String()), home, "(home)")
		said = number.ReplaceAllStringFunc(said, shorter)
		text := fmt.Sprintf("prof %s\nexit %d\n%s", placed.Replace(line), code, said)
		file := filepath.Join("testdata", "verbs", name)
		if *golden.Update {
			write(t, file, text)
			continue
		}
		was, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(was) != text {
			t.Errorf("prof %s: %s", line, firstChange(string(was), text))
		}
	}
}

// shorter rounds a fraction to 12 digits, as cell does.
func shorter(text string) string {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	return strconv.FormatFloat(v, 'g', 12, 64)
}

// firstChange returns the first lines that differ.
func firstChange(was, is string) string {
	before, after := strings.Split(was, "\n"), strings.Split(is, "\n")
	for i := range max(len(before), len(after)) {
		var a, b string
		if i < len(before) {
			a = before[i]
		}
		if i < len(after) {
			b = after[i]
		}
		if a != b {
			return fmt.Sprintf("line %d was\n%s\nis\n%s", i+1, a, b)
		}
	}
	return ""
}
