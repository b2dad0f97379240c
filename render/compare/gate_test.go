package compare

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prof/queries/judge/diff"
	"prof/queries/judge/diff/conditions"
	"prof/queries/judge/gate"
	"prof/queries/judge/stats"
	"prof/render/rendertest"
	"prof/render/typeset"
)

// gateRule reads a rule of a made-up file.
func gateRule(line int, text string) gate.Rule {
	rules, err := gate.Parse("perf.rules", strings.Repeat("\n", line-1)+text)
	if err != nil || len(rules) != 1 {
		panic(fmt.Sprint(text, err)) // the rules of this file are right
	}
	return rules[0]
}

// exampleGate is a result with all there is: each outcome, each unit, and names that no form may fall for.
func exampleGate() *gate.Result {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	span := gateRule(1, "stage.*.gpu_span_ns <= +3%")
	return &gate.Result{
		Run:      diff.Side{Label: "@latest", Runs: []diff.Run{{ID: "0195", Name: "pr-17", CreatedAt: at.Add(time.Hour), StartedAt: &at, Host: "gpu1"}}},
		Baseline: &diff.Side{Label: "baseline:main", Runs: []diff.Run{{ID: "0194", Name: "main-4f2a", CreatedAt: at.Add(-time.Hour)}}},
		Alpha:    0.01, Outcome: gate.Broken, Words: "regression: 2 of 7 rules broken, 2 cannot be told against main-4f2a (baseline:main); conditions differ: GPU",
		Checks: []gate.Check{
			{Rule: span, Subject: "stage.decode.gpu_span_ns", Stage: "decode", Unit: gate.Ns, Per: "pass", Baseline: new(40e6), Value: new(43.2e6), Limit: new(41.2e6), Effect: new(0.08),
				Level: "passes", Comparison: &stats.Comparison{NA: 5, NB: 5, A: 40e6, B: 43.2e6, Method: stats.MethodU, Smallest: new(0.004)}, P: new(0.0079), Outcome: gate.Broken,
				Reason: "+8 % (p = 0.0079, Mann-Whitney U, 5 and 5 passes)",
				Contributors: []diff.Contributor{{Name: "attention", Words: "attention kernels +31 %", DeltaNs: 2_900_000, Effect: new(0.31)},
					{Name: "launch-bound", Words: "launch-bound idle +8 %", DeltaNs: 400_000, Effect: new(0.08)},
					{Name: "kernel k", Words: "kernel k (new) +371 us", DeltaNs: 371_000}, {Name: "copies", Words: "no more copies -90 us", DeltaNs: -90_000, Effect: new(-1.0)}},
				See: "prof diff main-4f2a 'pr 17`x`' --stage decode"},
			{Rule: span, Subject: "stage.prefill.gpu_span_ns", Stage: "prefill", Unit: gate.Ns, Per: "token", Baseline: new(21400.0), Value: new(21600.0), Limit: new(22042.0), Effect: new(21600.0/21400 - 1),
				Level: "repeats", Comparison: &stats.Comparison{NA: 3, NB: 3, Method: stats.MethodWelch, Smallest: new(0.06)}, P: new(0.41), Outcome: gate.Holds,
				Reason: "+0.93 % (p = 0.41, Welch's t, 3 and 3 repeats); a regression below 6 % would not have shown"},
			{Rule: gateRule(2, `kernel:/flash|<b>&`+"`x`"+`/.mean_ns <= +5%`), Subject: "stage.decode.kernel:/flash|<b>&`x`/.mean_ns", Stage: "decode", Unit: gate.Ns, Per: "launch",
				Outcome: gate.CannotTell, Reason: "no kernel of stage decode in pr-17 matches, but some in the baseline do: were they renamed or fused?"},
			{Rule: gateRule(3, "mfu.prefill >= 35%"), Subject: "mfu.prefill", Stage: "prefill", Unit: gate.Ratio, Value: new(0.412), Limit: new(0.35), Outcome: gate.Holds},
			{Rule: gateRule(4, "overhead <= 25%"), Subject: "overhead.light", Unit: gate.Ratio, Limit: new(0.25), Outcome: gate.CannotTell,
				Reason: "profiling overhead is unknown: no recording without a profiler; capture with --baseline"},
			{Rule: gateRule(5, "new_kernels <= 0"), Subject: "new_kernels", Unit: gate.Count, Value: new(2.0), Limit: new(0.0), Outcome: gate.Broken, Reason: "new, longest first: " + rendertest.Hostile + ", void k<1>(*_*)"},
			{Rule: gateRule(6, "stage.decode.tokens_per_s >= 100"), Subject: "stage.decode.tokens_per_s", Stage: "decode", Unit: gate.PerSec, Value: new(1234.5), Limit: new(100.0), Outcome: gate.Holds},
		},
		Differences: []conditions.Difference{{Aspect: "GPU", A: "NVIDIA H200", B: "NVIDIA <H100>", Effect: "the comparison includes hardware", Weight: conditions.Decides},
			{Aspect: "driver", A: "550.54", B: "560.28", Weight: conditions.Clouds}, {Aspect: "commit", A: "4f2a1c", B: "9e01bb", Weight: conditions.Tells}},
		Notes: []string{"prefill: times are per token, because the passes of A and B have different numbers of tokens"},
	}
}

// plainGate is a result that compares with nothing.
func plainGate() *gate.Result {
	return &gate.Result{Run: diff.Side{Label: "a", Runs: []diff.Run{{ID: "0195", Name: "a"}}}, Alpha: 0.01, Outcome: gate.Holds, Words: "passed: 1 of 1 rules hold",
		Checks: []gate.Check{{Rule: gateRule(1, "stage.decode.launches <= 12"), Subject: "stage.decode.launches", Stage: "decode", Unit: gate.Count, Per: "pass", Value: new(12.0), Limit: new(12.0), Outcome: gate.Holds}}}
}

// TestGateForms holds every form of both.
func TestGateForms(t *testing.T) {
	used := map[string]bool{}
	hold := func(name, form string, r *gate.Result, o typeset.Options) {
		used[name] = true
		t.Run(name, func(t *testing.T) {
			rendertest.Compare(t, filepath.Join("testdata", "gate", name), []byte(gateText(t, form, r, o)))
		})
	}
	for name, r := range map[string]*gate.Result{"example": exampleGate(), "plain": plainGate()} {
		for _, columns := range []int{40, 80, 200} {
			hold(fmt.Sprintf("%s.%d.txt", name, columns), "table", r, typeset.Options{Width: columns})
		}
		hold(name+".md", "md", r, typeset.Options{})
		hold(name+".json", "json", r, typeset.Options{})
		hold(name+".xml", "junit", r, typeset.Options{})
	}
	hold("example.color.txt", "table", exampleGate(), typeset.Options{Width: 100, Color: true})
	entries, err := os.ReadDir(filepath.Join("testdata", "gate"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !used[e.Name()] {
			t.Errorf("testdata/gate/%s belongs to no test", e.Name())
		}
	}
}

// TestGateMarkdownFolded: what is folded away is named by what it holds.
func TestGateMarkdownFolded(t *testing.T) {
	for want, change := range map[string]func(r *gate.Result){
		"<summary>Notes</summary>":           func(r *gate.Result) { r.Notes = []string{"a note"} },
		"<summary>Rules that hold</summary>": func(r *gate.Result) { r.Checks[0].Reason = "no difference" },
		"<summary>Rules that hold, and notes</summary>": func(r *gate.Result) {
			r.Checks[0].Reason, r.Notes = "no difference", []string{"a note"}
		},
	} {
		r := plainGate()
		change(r)
		if got := gateText(t, "md", r, typeset.Options{}); !strings.Contains(got, want) {
			t.Errorf("there is no %s in\n%s", want, got)
		}
	}
}

func gateText(t *testing.T, form string, r *gate.Result, o typeset.Options) string {
	t.Helper()
	f, err := GateForms().Named(form)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := f.Write(&out, r, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestGateJUnit reads the XML back as a CI system does: totals, outcomes by name, and texts as they were.
func TestGateJUnit(t *testing.T) {
	r := exampleGate()
	r.Checks[5].Reason += "\x00\x1b[31m\xff]]>\u202e" // nothing of it may be a character of XML's own or none at all
	text := gateText(t, "junit", r, typeset.Options{})
	type problem struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	var all struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Suites   []struct {
			Tests int `xml:"tests,attr"`
			Cases []struct {
				Class   string   `xml:"classname,attr"`
				Name    string   `xml:"name,attr"`
				Failure *problem `xml:"failure"`
				Error   *problem `xml:"error"`
				Skipped *problem `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = true
	if err := d.Decode(&all); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if all.Tests != 7 || all.Failures != 2 || all.Errors != 2 || len(all.Suites) != 1 || all.Suites[0].Tests != 7 || len(all.Suites[0].Cases) != 7 {
		t.Fatalf("%+v", all)
	}
	names := map[string]bool{}
	for i, c := range all.Suites[0].Cases {
		check := r.Checks[i]
		names[c.Name] = true
		if (c.Failure != nil) != (check.Outcome == gate.Broken) || (c.Error != nil) != (check.Outcome == gate.CannotTell) || c.Skipped != nil {
			t.Errorf("%s is %s: %+v", c.Name, check.Outcome, c)
		}
		if !strings.HasPrefix(c.Name, check.Subject+" ") {
			t.Errorf("%s is called %s", check.Subject, c.Name)
		}
	}
	if len(names) != 7 {
		t.Errorf("the tests are called %v", names)
	}
	if c := all.Suites[0].Cases[5]; c.Class != "prof.run" || !strings.Contains(c.Failure.Message, `\x00\x1b[31m\xff]]>\u202e`) {
		t.Errorf("%+v says %q", c, c.Failure.Message)
	}
	if c := all.Suites[0].Cases[0]; c.Class != "prof.decode" || !strings.Contains(c.Failure.Text, "value 43.2 ms per pass, baseline 40 ms, limit 41.2 ms") || !strings.Contains(c.Failure.Text, "(perf.rules:1)") {
		t.Errorf("%+v says %q", c, c.Failure.Text)
	}
}

// TestGateJSON: numbers in base units, null where nothing is known.
func TestGateJSON(t *testing.T) {
	r := exampleGate()
	r.Checks[3].Value = new(0.0)
	var got struct {
		Outcome string
		Counts  struct {
			Holds, Broken int
			CannotTell    int `json:"cannot_tell"`
		}
		Rules []map[string]any
	}
	if err := json.Unmarshal([]byte(gateText(t, "json", r, typeset.Options{})), &got); err != nil {
		t.Fatal(err)
	}
	if got.Outcome != "broken" || got.Counts.Holds != 3 || got.Counts.Broken != 2 || got.Counts.CannotTell != 2 {
		t.Errorf("%+v", got)
	}
	for i, want := range []map[string]any{
		{"value": 43.2e6, "baseline": 40e6, "limit": 41.2e6, "effect_ratio": 0.08, "p": 0.0079, "stage": "decode", "per": "pass", "unit": "ns", "line": 1.0, "sample_count": 5.0},
		{}, {"value": nil, "baseline": nil, "limit": nil, "effect_ratio": nil, "p": nil, "sample_count": nil, "method": nil},
		{"value": 0.0, "per": nil, "unit": "ratio"}, {"stage": nil, "file": "perf.rules"},
	} {
		for key, v := range want {
			if have, there := got.Rules[i][key]; !there || have != v {
				t.Errorf("rule %d has %s %v, want %v", i+1, key, have, v)
			}
		}
	}
}

// TestGateFormOf: endings of files tell their form.
func TestGateFormOf(t *testing.T) {
	for file, want := range map[string]string{"a.md": "md", "out/JUnit.XML": "junit", "x.json": "json", "log.txt": "table"} {
		if f, err := GateForms().OfFile(file); err != nil || f.Name != want {
			t.Errorf("%s is %s, %v", file, f.Name, err)
		}
	}
	if _, err := GateForms().OfFile("a.htm"); err == nil || !strings.Contains(err.Error(), "a.htm: its ending is none of .txt, .md, .html, .blocks, .json, .xml: give --format") {
		t.Errorf("%v", err)
	}
	if _, err := GateForms().Named("yaml"); err == nil || !strings.Contains(err.Error(), "use one of table, md, html, blocks, json, junit") {
		t.Errorf("%v", err)
	}
}

// TestGateWriteErrors: a writer that takes nothing is told of.
func TestGateWriteErrors(t *testing.T) {
	for _, f := range GateForms() {
		if err := f.Write(rendertest.Failing{}, exampleGate(), typeset.Options{}); err == nil || !strings.Contains(err.Error(), io.ErrClosedPipe.Error()) {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}
