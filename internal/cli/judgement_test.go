package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"prof/internal/sample"
)

// told is what a verb says of a run: its findings.
type told struct {
	Findings []struct {
		ID       string
		Stage    *string
		Device   int64
		SavingNs int64 `json:"saving_ns"`
		Evidence string
		Advice   string
	}
	Stages []struct{ Stage, Bound *string }
}

func (p *place) told(args ...string) told { p.t.Helper(); return tellsOf(p.t, p.ok(args...)) }

func tellsOf(t testing.TB, text string) (out told) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v: %.300s", err, text)
	}
	return out
}

// TestOneJudgement asks every verb that judges about the same runs, and demands one answer: of a run its findings, each by a rule that there is,
// and of two runs whether the one is slower.
func TestOneJudgement(t *testing.T) {
	t.Parallel()
	p := reading(t, various)
	found := map[string]bool{}
	rules := p.ok("query", "finding-rules", "--format", "csv")
	for _, r := range sample.Of(various, 4) {
		run := r.Name
		p.ok("report", run, "--out", run, "--file", "metrics.json,report.md")
		show, explain, report := p.told("show", run, "--format", "json"), p.told("explain", run, "--format", "json"), tellsOf(t, string(read(t, p.path(run+"/metrics.json"))))
		if a, b := fmt.Sprintf("%+v", findingsOf(show)), fmt.Sprintf("%+v", findingsOf(explain)); a != b {
			t.Errorf("%s: show finds %s, explain %s", run, a, b)
		}
		if a, b := fmt.Sprintf("%+v", findingsOf(show)), fmt.Sprintf("%+v", findingsOf(report)); a != b {
			t.Errorf("%s: show finds %s, metrics.json %s", run, a, b)
		}
		if a, b := bounds(show), bounds(report); !slices.Equal(a, b) {
			t.Errorf("%s: the stages are bound by %q, in metrics.json by %q", run, a, b)
		}
		text := p.ok("explain", run) + string(read(t, p.path(run+"/report.md")))
		for _, x := range show.Findings {
			found[x.ID] = true
			if !strings.Contains(rules, "\n"+x.ID+",") || x.Evidence == "" || strings.Count(strings.ReplaceAll(text, "\\", ""), x.Evidence) < 1 {
				t.Errorf("%s: %+v is by no rule, or not told of", run, x)
			}
		}
		if screen := p.ok("show", run); len(show.Findings) > 0 == strings.Contains(screen, "what to capture next") {
			t.Errorf("%s: %d findings, and the screen says\n%s", run, len(show.Findings), screen)
		}
	}
	if *sample.Whole && len(found) < 8 {
		t.Errorf("these runs have findings of %d rules only: %v", len(found), found)
	}
}

func findingsOf(x told) []string {
	var out []string
	for _, f := range x.Findings {
		stage := "NULL"
		if f.Stage != nil {
			stage = *f.Stage
		}
		out = append(out, fmt.Sprint(f.ID, " ", stage, " ", f.Device, " ", f.SavingNs, " ", f.Evidence, " ", f.Advice))
	}
	return out
}

func bounds(x told) []string {
	var out []string
	for _, s := range x.Stages {
		stage := "all"
		if s.Stage != nil {
			stage = *s.Stage
		}
		out = append(out, stage+" "+*s.Bound)
	}
	return out
}

// TestOneVerdict asks diff, diff --fail-over and check about the same two sides: a change beyond the limit fails both gates, no change or one within
// it passes both, and what diff cannot tell neither judges.
func TestOneVerdict(t *testing.T) {
	t.Parallel()
	again, slower, short := madeTrace(2), madeTrace(2), madeTrace(3)
	decode(&slower, flash).Ns *= 1.3
	short.Passes = 2
	p := reading(t, append(slices.Clone(repeated), madeRun("base", madeTrace(1), madeSteps), madeRun("again", again, madeSteps), madeRun("slower", slower, madeSteps), madeRun("short", short, madeSteps)))
	seen := map[string]int{}
	names := []string{"sdpa-1", "sdpa-2", "eager", "base", "again", "slower", "short"}
	var pairs [][2]string
	for _, a := range names {
		for _, b := range names {
			pairs = append(pairs, [2]string{a, b})
		}
	}
	for _, sides := range sample.Of(pairs, 10) {
		d := p.diff(sides[0], sides[1])
		want := 0
		for _, s := range d.Stages {
			seen[s.Verdict]++
			switch {
			case s.Stage == outsideStages || sides[0] == sides[1]:
			case s.Verdict == "worse" && s.Comparison.Effect > 0.05:
				want = exitRegression
			case s.Verdict == "cannot tell" && want == 0 && !(s.Comparison.High != nil && *s.Comparison.High <= 0.05):
				want = exitCannotTell
			}
		}
		gate := p.run("diff", sides[0], sides[1], "--fail-over", "5%")
		check := p.run("check", sides[1], "--baseline", sides[0])
		if gate.code != want || check.code != want {
			t.Errorf("%s against %s: diff says %q, --fail-over exits with %d, check with %d, want %d:\n%s%s", sides[1], sides[0], d.Words, gate.code, check.code, want, gate.err, check.out)
		}
		// The built-in rule is what it says.
		if typed := p.run("check", sides[1], "--baseline", sides[0], "--rule", "stage.*.gpu_span_ns <= +5%"); typed.code != check.code || typed.out != check.out {
			t.Errorf("%s against %s: the rule typed out exits with %d, built in with %d:\n%s\n%s", sides[1], sides[0], typed.code, check.code, typed.out, check.out)
		}
		// Every form has the figures of diff, and its sentence.
		var judged struct {
			Rules []struct {
				Stage       string
				EffectRatio float64  `json:"effect_ratio"`
				Low         *float64 `json:"low_ratio"`
			}
		}
		if err := json.Unmarshal([]byte(p.run("check", sides[1], "--baseline", sides[0], "--format", "json").out), &judged); err != nil {
			t.Fatal(err)
		}
		for _, r := range judged.Rules {
			s := d.stage(t, r.Stage)
			if r.EffectRatio != s.Comparison.Effect || sides[0] != sides[1] && (r.Low == nil) != (s.Comparison.Low == nil) || r.Low != nil && s.Comparison.Low != nil && *r.Low != *s.Comparison.Low {
				t.Errorf("%s against %s, %s: check has %+v, diff %+v", sides[1], sides[0], r.Stage, r, s.Comparison)
			}
		}
		plain := func(text string) string {
			return strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(text, "\\", "")), " "))
		}
		for _, format := range []string{"table", "md"} {
			if text := p.ok("diff", sides[0], sides[1], "--format", format); !strings.Contains(plain(text), plain(d.Words)) {
				t.Errorf("%s against %s: %s does not say %q:\n%.600s", sides[1], sides[0], format, d.Words, text)
			}
		}
	}
	for _, verdict := range []string{"worse", "better", "no change", "cannot tell"} {
		if seen[verdict] == 0 {
			t.Errorf("no stage is %s: these runs tell too little", verdict)
		}
	}
}
