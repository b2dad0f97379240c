package cli

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
)

// TestLead holds that each form of output says the same sentence of a run first, and that the list of runs has its time per token.
func TestLead(t *testing.T) {
	t.Parallel()
	p := reading(t, various)
	type stage struct {
		Token *float64 `json:"token_time_ns"`
	}
	type form struct {
		Lead   string
		Stages []stage
	}
	decode := func(text string) (f form) {
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			t.Fatal(err)
		}
		return f
	}
	listed := map[string]string{}
	for line := range strings.Lines(p.sql("SELECT run, token_time_ns FROM runs ORDER BY ALL")) {
		run, token, _ := strings.Cut(strings.TrimSpace(line), ",")
		listed[run] = token
	}
	known := 0
	for run, token := range listed {
		if run == "run" {
			continue
		}
		shown := decode(p.ok("show", run, "--format", "json"))
		if shown.Lead == "" {
			t.Errorf("%s: nothing is said first", run)
		}
		if screen := p.ok("show", run, "--wide"); !strings.Contains("\n"+screen, "\n"+shown.Lead+"\n") {
			t.Errorf("%s: show does not say %q:\n%s", run, shown.Lead, screen)
		}
		if page := p.ok("report", run, "--out", "-", "--file", "report.md"); strings.Contains(page, "# At a glance") && !strings.Contains(page, shown.Lead) {
			t.Errorf("%s: report.md does not say %q", run, shown.Lead)
		}
		if metrics := decode(p.ok("report", run, "--out", "-", "--file", "metrics.json")); metrics.Lead != shown.Lead {
			t.Errorf("%s: metrics.json says %q, show %q", run, metrics.Lead, shown.Lead)
		}
		want := ""
		for _, s := range shown.Stages {
			if s.Token != nil {
				want, known = strconv.FormatFloat(*s.Token, 'g', -1, 64), known+1
				break
			}
		}
		if got, err := strconv.ParseFloat(token, 64); len(shown.Stages) > 0 && token != want && (err != nil || strconv.FormatFloat(got, 'g', -1, 64) != want) {
			t.Errorf("%s: runs has %q ns a token, show %q", run, token, want)
		}
		if strings.Contains(shown.Lead, "/token") != (want != "") {
			t.Errorf("%s: the sentence is %q where a token takes %q ns", run, shown.Lead, want)
		}
	}
	if known == 0 {
		t.Error("no run says what a token takes")
	}
}
