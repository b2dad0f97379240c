package gate

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestParse holds what rules mean, and how they are written back.
func TestParse(t *testing.T) {
	for text, want := range map[string]struct {
		kind            Kind
		stage, metric   string
		re              string
		atMost          bool
		limit           Limit
		written         string // "" where it is the text itself
		needsComparison bool
	}{
		"stage.decode.gpu_span_ns <= +3%":               {StageFigure, "decode", "gpu_span_ns", "", true, Limit{Ns, true, true, 0.03}, "", true},
		"stage.*.gpu_span_ns <= +5%":                    {StageFigure, "*", "gpu_span_ns", "", true, Limit{Ns, true, true, 0.05}, "", true},
		"stage.prefill.gpu_span_ns <= 60ms":             {StageFigure, "prefill", "gpu_span_ns", "", true, Limit{Ns, false, false, 60e6}, "", false},
		"stage.prefill.gpu_span_ns <= 1.5ms":            {StageFigure, "prefill", "gpu_span_ns", "", true, Limit{Ns, false, false, 1.5e6}, "stage.prefill.gpu_span_ns <= 1500us", false},
		"stage.prefill.cpu_ns<=0":                       {StageFigure, "prefill", "cpu_ns", "", true, Limit{Ns, false, false, 0}, "stage.prefill.cpu_ns <= 0", false},
		"stage.prefill.gpu_busy_ns <= +2µs":             {StageFigure, "prefill", "gpu_busy_ns", "", true, Limit{Ns, true, false, 2e3}, "stage.prefill.gpu_busy_ns <= +2us", true},
		"stage.decode.gpu_span_ns <= +5 %":              {StageFigure, "decode", "gpu_span_ns", "", true, Limit{Ns, true, true, 0.05}, "stage.decode.gpu_span_ns <= +5%", true},
		"stage.decode.gpu_span_ns <= 5\t ms # both":     {StageFigure, "decode", "gpu_span_ns", "", true, Limit{Ns, false, false, 5e6}, "stage.decode.gpu_span_ns <= 5ms", false},
		"stage.decode.tokens_per_s >= -2%":              {StageFigure, "decode", "tokens_per_s", "", false, Limit{PerSec, true, true, -0.02}, "", true},
		"stage.decode.tokens_per_s >= 1200":             {StageFigure, "decode", "tokens_per_s", "", false, Limit{PerSec, false, false, 1200}, "", false},
		"stage.decode.launches <= +0":                   {StageFigure, "decode", "launches", "", true, Limit{Count, true, false, 0}, "", true},
		"stage.a.b.gpu_sum_ns <= 2s":                    {StageFigure, "a.b", "gpu_sum_ns", "", true, Limit{Ns, false, false, 2e9}, "", false},
		"stage.(none).gpu_sum_ns <= 7ns":                {StageFigure, "(none)", "gpu_sum_ns", "", true, Limit{Ns, false, false, 7}, "", false},
		"kernel:/flash/.mean_ns <= +5%":                 {KernelTime, "*", "mean_ns", "flash", true, Limit{Ns, true, true, 0.05}, "", true},
		"stage.decode.kernel:/flash/.total_ns <= 3ms":   {KernelTime, "decode", "total_ns", "flash", true, Limit{Ns, false, false, 3e6}, "", false},
		`kernel:/a\/b # <= c\.d/.calls <= +0`:           {KernelTime, "*", "calls", `a/b # <= c\.d`, true, Limit{Count, true, false, 0}, "", true},
		`kernel:/\\\/x/.calls <= 4`:                     {KernelTime, "*", "calls", `\\/x`, true, Limit{Count, false, false, 4}, "", false},
		"mfu.prefill >= 0.35":                           {Utilisation, "prefill", "mfu", "", false, Limit{Ratio, false, false, 0.35}, "mfu.prefill >= 35%", false},
		"mbu.* >= 20%":                                  {Utilisation, "*", "mbu", "", false, Limit{Ratio, false, false, 0.2}, "", false},
		"serving.ttft_p99 <= 200ms":                     {Serving, "", "ttft_p99", "", true, Limit{Ns, false, false, 200e6}, "", false},
		"serving{rate=4.0, in=1024}.ttft_p99 <= 200ms":  {Serving, "", "ttft_p99", "", true, Limit{Ns, false, false, 200e6}, "serving{rate=4,in=1024}.ttft_p99 <= 200ms", false},
		"serving.failed <= 0":                           {Serving, "", "failed", "", true, Limit{Count, false, false, 0}, "", false},
		"overhead <= 25%":                               {Overhead, "", "", "", true, Limit{Ratio, false, false, 0.25}, "", false},
		"overhead.light <= 150%":                        {Overhead, "", "light", "", true, Limit{Ratio, false, false, 1.5}, "", false},
		"new_kernels <= 0":                              {NewKernels, "", "", "", true, Limit{Count, false, false, 0}, "", true},
		"stage.decode.new_kernels <= 2   # of autotune": {NewKernels, "decode", "", "", true, Limit{Count, false, false, 2}, "stage.decode.new_kernels <= 2", true},
	} {
		rules, err := Parse("f", "  "+text+"  ")
		if err != nil || len(rules) != 1 {
			t.Errorf("%s: %v, %v", text, rules, err)
			continue
		}
		r := rules[0]
		re := ""
		if r.Kernel != nil {
			re = r.Kernel.String()
		}
		if r.Kind != want.kind || r.Stage != want.stage || r.Metric != want.metric || re != want.re || r.AtMost != want.atMost || r.Limit != want.limit || r.NeedsBaseline() != want.needsComparison {
			t.Errorf("%s: %+v, expression %q", text, r, re)
		}
		if r.At != (Position{"f", 1, 3}) {
			t.Errorf("%s: stands at %+v", text, r.At)
		}
		if want.written == "" {
			want.written = text
		}
		if got := r.String(); got != want.written {
			t.Errorf("%s: written %s, want %s", text, got, want.written)
		}
	}
}

// TestParseFile: comments, empty lines, ends of lines and the places of rules.
func TestParseFile(t *testing.T) {
	rules, err := Parse("perf.rules", "\ufeff# all\n\n  mfu.prefill >= 35%\t# as in the paper\r\n#overhead <= 1%\noverhead <= 25%")
	if err != nil || len(rules) != 2 {
		t.Fatalf("%v, %v", rules, err)
	}
	if rules[0].Text != "mfu.prefill >= 35%" || rules[0].At != (Position{"perf.rules", 3, 3}) || rules[1].At != (Position{"perf.rules", 5, 1}) {
		t.Errorf("%+v", rules)
	}
	for _, text := range []string{"", "\n", "# none\n", "  # none"} {
		if rules, err := Parse("f", text); err != nil || len(rules) != 0 {
			t.Errorf("%q: %v, %v", text, rules, err)
		}
	}
}

// TestParseErrors holds that a wrong rule is told with its place and a way out.
func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"stage.decode.gpu_spam_ns <= +3%":      `f:1:14: stages have no figure "gpu_spam_ns"; did you mean gpu_span_ns or gpu_sum_ns?; they have cpu_ns, gpu_busy_ns`,
		"stag.decode.gpu_span_ns <= +3%":       `f:1:1: no figure is called "stag.decode.gpu_span_ns"; did you mean stage?; a rule is about stage.NAME.METRIC`,
		"stage.gpu_span_ns <= +3%":             "f:1:1: write stage.NAME.METRIC",
		"stage.decode.mfu >= 1%":               "f:1:1: write mfu.decode",
		"mfu >= 0.35":                          "f:1:1: mfu of which stage? write mfu.prefill",
		"serving.ttft_p98 <= 1ms":              `load generators have no figure "ttft_p98"; did you mean ttft_p9`,
		"serving{rate=4.ttft_p99 <= 1ms":       "f:1:9: the load has no closing brace",
		"serving{speed=4}.ttft_p99 <= 1ms":     `f:1:9: load "speed=4": write it as parts`,
		"serving{rate=4} <= 1ms":               "f:1:1: which figure of the load? write serving{rate=4}.ttft_p99",
		"serving{rate=4}.ttft <= 1ms":          `load generators have no figure "ttft"`,
		"serving <= 1ms":                       "load generators have no figure",
		"serving.ttft_p99 <= +3%":              "serving.ttft_p99 is not compared with the baseline: write an absolute limit",
		"overhead. <= 1%":                      `no figure is called "overhead."`,
		"# x\nkernel:/fl(/.mean_ns <= +5%":     "f:2:9: error parsing regexp: missing closing ): `fl(`",
		"kernel:/flash.mean_ns <= +5%":         "f:1:9: the expression has no closing slash",
		"kernel://.mean_ns <= +5%":             "f:1:9: the expression is empty",
		"kernel:/x/.meanns <= +5%":             `f:1:11: kernels have no figure "meanns"; did you mean mean_ns?; after the expression write .calls, .mean_ns, .total_ns`,
		"kernel:/x/mean_ns <= +5%":             "f:1:11: kernels have no",
		"foo.kernel:/x/.mean_ns <= +5%":        "f:1:1: write kernel:/RE/.METRIC or stage.NAME.kernel:/RE/.METRIC",
		"stage.decode.gpu_span_ns":             "f:1:25: the rule has no limit",
		"stage.decode.gpu_span_ns < +3%":       `f:1:26: expected <= (at most) or >= (at least), not "<"`,
		"stage.decode.gpu_span_ns == +3%":      `f:1:26: expected <= (at most) or >= (at least), not "=="`,
		"stage.decode.gpu_span_ns <=":          "f:1:28: the limit is missing: write one, such as +3% or 60ms",
		"stage.decode.gpu_span_ns <= 60":       "f:1:29: a time needs a unit: ns, us, ms or s",
		"stage.decode.gpu_span_ns <= 60min":    `f:1:29: "min" is not a unit of this figure: write 60ms`,
		"stage.decode.gpu_span_ns <= 60 min":   "f:1:29: a time needs a unit",
		"stage.decode.gpu_span_ns <= +3% ms":   `f:1:33: "ms" follows the rule`,
		"stage.decode.gpu_span_ns <= 3%":       "f:1:29: a percentage of what? with a sign",
		"stage.decode.gpu_span_ns <= -3%":      "f:1:29: a relative limit after <= is how far the figure may rise above the baseline",
		"stage.decode.tokens_per_s >= +3%":     "f:1:30: a relative limit after >= is how far the figure may fall below the baseline",
		"stage.decode.gpu_span_ns <= +3% soon": `f:1:33: "soon" follows the rule`,
		"stage.decode.gpu_span_ns <= abc":      `f:1:29: "abc" is not a limit`,
		"stage.decode.gpu_span_ns <= +Inf":     `is not a limit`,
		"stage.decode.gpu_span_ns <= 0x10ns":   `is not a limit`,
		"stage.decode.launches <= 1e999":       `is not a limit`,
		"mfu.prefill >= 35":                    "f:1:16: did you mean a percentage? write 35%",
		"mfu.prefill >= -3%":                   "f:1:16: mfu.prefill is not compared with the baseline: write an absolute limit (no + or -), such as 35% or 0.35",
		"overhead <= +3%":                      "f:1:13: overhead is not compared with the baseline",
		"new_kernels <= +0":                    "f:1:16: new kernels are counted against the baseline already",
		"stage.größe.gpu_span_ns <= 60":        "f:1:28: a time needs a unit", // columns count characters
		"stage.x.gpu_span_ns <= 1ms\xff":       "f:1:1: the rules are not UTF-8 text",
	} {
		rules, err := Parse("f", text)
		said.Add(fmt.Sprint(err))
		if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, ErrRule) {
			t.Errorf("%q: %+v, %v; want %s", text, rules, err, want)
		}
	}
	_, err := Parse("f", "mfu >= 1\noverhead <= 5%\nx <= 1")
	if err == nil || strings.Count(err.Error(), "\n") != 1 || !strings.Contains(err.Error(), "f:1:1: ") || !strings.Contains(err.Error(), "f:3:1: ") {
		t.Errorf("of two wrong lines: %v", err)
	}
}

// TestDefault: the built-in rule is what its text says.
func TestDefault(t *testing.T) {
	for _, r := range Default() {
		parsed, err := Parse("f", r.Text)
		if err != nil || len(parsed) != 1 {
			t.Fatalf("%s: %v", r.Text, err)
		}
		parsed[0].At, parsed[0].IsDefault = r.At, r.IsDefault
		if !reflect.DeepEqual(parsed[0], r) {
			t.Errorf("%+v is read %+v", r, parsed[0])
		}
	}
}

// FuzzParse: whatever is read is read again from how it is written, and nothing crashes.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"stage.decode.gpu_span_ns <= +3%", "kernel:/a\\/b/.calls <= +0", "mfu.* >= 0.35 # x", "overhead.light<=25%", "stage.a.new_kernels >= 1", "stage.x.kernel:/\\\\/.mean_ns >= -2us",
		"stage..gpu_span_ns <= 1e3s", "kernel:/#/.total_ns <= 1ms", "\ufeff", "stage.a b.cpu_ns <= 1s"} {
		f.Add(seed)
	}
	f.Add("serving{model=a=b,rate=inf}.ttft_p99<=1ms")
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := Parse("f", text)
		if err != nil {
			if !errors.Is(err, ErrRule) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		for _, r := range rules {
			again, err := Parse("f", r.String())
			if err != nil || len(again) != 1 {
				t.Fatalf("%q is written %q, which is read %+v, %v", text, r.String(), again, err)
			}
			a := again[0]
			if a.Kind != r.Kind || a.Stage != r.Stage || a.Metric != r.Metric || a.AtMost != r.AtMost || a.Relative != r.Relative || a.Percent != r.Percent || a.Unit != r.Unit || a.String() != r.String() {
				t.Fatalf("%q is %+v and written %q, which is %+v", text, r, r.String(), a)
			}
			if (a.Kernel == nil) != (r.Kernel == nil) || a.Kernel != nil && a.Kernel.String() != r.Kernel.String() {
				t.Fatalf("%q picks kernels by %v, written by %v", text, r.Kernel, a.Kernel)
			}
			if text := strings.TrimSpace(r.Text); text != r.Text || strings.Contains(text, "\n") {
				t.Fatalf("the rule's text is %q", r.Text)
			}
		}
	})
}
