package conditions

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/queries/frame/frametest"
)

// knownOf makes conditions of "aspect=value" texts; weights as run-conditions gives them.
func knownOf(texts ...string) Run {
	var c Run
	for _, text := range texts {
		name, value, _ := strings.Cut(text, "=")
		a := Aspect{Name: name, Value: value, Weight: Clouds}
		switch {
		case slices.Contains([]string{"GPU", "SMs", "model", "prompt tokens", "decoded tokens", "profiler", "precision of kernels"}, name) || strings.HasPrefix(name, "input "):
			a.Weight = Decides
		case slices.Contains([]string{"commit", "branch", "command", "GPU UUID", "prof version", "uncommitted changes"}, name) || strings.HasPrefix(name, "tag "):
			a.Weight = Tells
		}
		c.Aspects = append(c.Aspects, a)
	}
	return c
}

// TestDifferences holds what differs between sides of one run each, and what that is said to mean.
func TestDifferences(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what, a, b string
		want       []string // weight, aspect, A, B, effect
	}{
		{"alike", "GPU=X&driver=1.2&commit=a", "GPU=X&driver=1.2&commit=a", nil},
		{"GPU", "GPU=X", "GPU=2 x X", []string{"decides|GPU|X|2 x X|different GPUs: the comparison includes hardware"}},
		{"twice the tokens", "prompt tokens=512", "prompt tokens=1024", []string{"decides|prompt tokens|512|1024|twice the tokens: prefill is judged per token"}},
		{"varying tokens", "decoded tokens=128, 1024; mean 200.0", "decoded tokens=300", []string{"decides|decoded tokens|128, 1024; mean 200.0|300|1.5x the tokens: decode is judged per token"}},
		{"tokens of one side", "prompt tokens=512", "GPU=X", []string{"clouds|GPU|unknown|X|known for one side only: it may differ", "clouds|prompt tokens|512|unknown|known for one side only: it may differ"}},
		{"half the clock", "SM clock=1980 MHz", "SM clock=990 MHz", []string{"decides|SM clock|1980 MHz|990 MHz|B ran at half the SM clock: compute-bound kernels take 2.00x as long from that alone"}},
		{"a lower clock", "SM clock=1980 MHz", "SM clock=1935 MHz", []string{"clouds|SM clock|1980 MHz|1935 MHz|B ran at 0.977x the SM clock: compute-bound kernels take 1.02x as long from that alone"}},
		{"a step of the clock", "SM clock=1980 MHz", "SM clock=1965 MHz", nil},
		{"throttled", "throttling=0.0 % of samples", "throttling=40.5 % of samples: sw_power_cap", []string{"clouds|throttling|0.0 % of samples|40.5 % of samples: sw_power_cap|throttled by power or temperature: times are longer than at full clocks"}},
		{"throttled alike", "throttling=38.0 % of samples: sw_power_cap", "throttling=40.5 % of samples: sw_power_cap", nil},
		{"a lone sample", "throttling=0.0 % of samples", "throttling=0.4 % of samples: sw_power_cap", nil},
		{"driver by two tools", "driver=580.159", "driver=580.159.04", nil},
		{"driver", "driver=580.15", "driver=580.159", []string{"clouds|driver|580.15|580.159|a version change may change times"}},
		{"option written where on", "profiler=torch&torch with_stack=on", "profiler=torch", []string{"clouds|torch with_stack|on|off|tracing overhead differs"}},
		{"option of another tool", "profiler=nsys&torch with_stack=on", "profiler=nsys", nil},
		{"variable", "capture mode=deep&variable CUDA_LAUNCH_BLOCKING=1", "capture mode=deep", []string{"clouds|variable CUDA_LAUNCH_BLOCKING|1|not set|it may change how a library computes"}},
		{"variable of a capture elsewhere", "variable CUDA_LAUNCH_BLOCKING=1", "GPU UUID=u", nil},
		{"input", "capture mode=deep&input p=aa", "capture mode=deep&input p=bb", []string{"decides|input p|aa|bb|different input: passes may do different work"}},
		{"skip", "ncu launch skip=0", "ncu launch skip=5", []string{"clouds|ncu launch skip|0|5|different launches: affects kernel metrics only"}},
		{"tag", "tag branch=main", "GPU UUID=u", []string{"tells|tag branch|main|none|"}},
		{"order", "commit=a&driver=1&GPU=X&host=h&prompt tokens=1", "commit=b&driver=2&GPU=Y&host=g&prompt tokens=7", []string{"decides|GPU|", "decides|prompt tokens|", "clouds|host|", "clouds|driver|", "tells|commit|"}},
	} {
		got := Differences([]Run{knownOf(strings.Split(c.a, "&")...)}, []Run{knownOf(strings.Split(c.b, "&")...)})
		if len(got) != len(c.want) {
			t.Errorf("%s: %+v, want %q", c.what, got, c.want)
			continue
		}
		said.Add(got)
		for i, d := range got {
			if s := fmt.Sprintf("%s|%s|%s|%s|%s", d.Weight, d.Aspect, d.A, d.B, d.Effect); !strings.HasPrefix(s, c.want[i]) || strings.Count(c.want[i], "|") == 4 && s != c.want[i] {
				t.Errorf("%s:\n %s, want\n %s", c.what, s, c.want[i])
			}
		}
	}
}

// TestDifferencesOfSets holds what is said of sides of several runs.
func TestDifferencesOfSets(t *testing.T) {
	t.Parallel()
	side := func(texts ...string) (out []Run) {
		for _, text := range texts {
			out = append(out, knownOf(strings.Split(text, ";")...))
		}
		return out
	}
	for _, c := range []struct {
		what string
		a, b []Run
		want string
	}{
		{"mixed side", side("driver=1", "driver=1", "driver=2"), side("driver=1"), "[{driver 1 (2 runs), 2 (1 run) 1 a version change may change times; it varies within A clouds}]"},
		{"mixed sides alike", side("driver=1", "driver=2"), side("driver=1", "driver=2"), "[{driver 1 (1 run), 2 (1 run) 1 (1 run), 2 (1 run) a version change may change times; it varies within both sides clouds}]"},
		{"known of some", side("driver=1", "host=h"), side("driver=1;host=h"), "[{host h (1 run), unknown (1 run) h different machine; it varies within A clouds} {driver 1 (1 run), unknown (1 run) 1 a version change may change times; it varies within A clouds}]"},
		{"clocks by their medians", side("SM clock=1980 MHz", "SM clock=1965 MHz", "SM clock=1950 MHz"), side("SM clock=1965 MHz"), "[]"},
		{"commits of sets", side("commit=a", "commit=b"), side("commit=b", "commit=a"), "[]"},
		{"other commits", side("commit=a", "commit=b"), side("commit=c", "commit=c"), "[{commit a (1 run), b (1 run) c  tells}]"},
		{"many values", side("host=a", "host=b", "host=c", "host=d", "host=e", "host=f"), side("host=a"), "[{host a (1 run), b (1 run), c (1 run), d (1 run), 2 others a different machine; it varies within A clouds}]"},
	} {
		said.Add([][]Difference{Differences(c.a, c.b), Differences(c.b, c.a)})
		if got := fmt.Sprint(Differences(c.a, c.b)); got != c.want {
			t.Errorf("%s:\n %s, want\n %s", c.what, got, c.want)
		}
		if again := Differences(c.a, c.a); c.what == "other commits" && len(again) > 0 {
			t.Errorf("%s: a side differs from itself in %v", c.what, again)
		}
	}
}

// TestExpected holds what differences explain of the change of a stage.
func TestExpected(t *testing.T) {
	t.Parallel()
	d := Differences([]Run{knownOf("prompt tokens=512", "decoded tokens=16", "SM clock=1980 MHz", "driver=1", "images=1")}, []Run{knownOf("prompt tokens=1024", "decoded tokens=16", "SM clock=990 MHz", "driver=2", "images=3")})
	for stage, want := range map[string]string{"prefill": "half the clock, twice the tokens, three times the images", "decode": "half the clock", "": "half the clock, twice the tokens, three times the images", "(none)": "half the clock"} {
		if got := Expected(d, stage); got != want {
			t.Errorf("%q: %q, want %q", stage, got, want)
		}
	}
	for pair, want := range map[[2]string]string{{"GPU=X", "GPU=Y"}: "another GPU", {"prompt tokens=3", "host=h"}: "", {"throttling=0.0 % of samples", "throttling=9.0 % of samples: x"}: "B was throttled more",
		{"throttling=9.0 % of samples: x", "throttling=0.0 % of samples"}: "A was throttled more", {"driver=1", "driver=2"}: "", {"ranks=8", "ranks=2"}: "a quarter of the ranks"} {
		got := Expected(Differences([]Run{knownOf(pair[0])}, []Run{knownOf(pair[1])}), "prefill")
		said.Add(got)
		if got != want {
			t.Errorf("%v: %q, want %q", pair, got, want)
		}
	}
}

// answers has the answer to every question.
type answers struct {
	*frame.Frame
	asked frame.Args
}

func (a *answers) Ask(context.Context, string, frame.Args) (*frame.Frame, error) { return a.Frame, nil }

func (a *answers) AskAll(_ context.Context, list []frame.Question) ([]*frame.Frame, error) {
	a.asked = list[0].Args
	return []*frame.Frame{a.Frame}, nil
}

// TestLoad holds that all runs are asked for at once, each once, that an answer is dealt to its runs, and that another weight is an error.
func TestLoad(t *testing.T) {
	t.Parallel()
	a := &answers{Frame: frametest.Answer("run-conditions", "aspect value weight run_id", []any{"GPU", "X", "decides", "1"}, []any{"host", "h", "clouds", "1"}, []any{"GPU", "Y", "decides", "2"})}
	r, f, err := Load(t.Context(), a, []string{"2", "1", "3", "2"})
	if err != nil || len(r) != 4 || !reflect.DeepEqual(r[0], r[3]) || len(r[0].Aspects) != 1 || r[0].Value("GPU") != "Y" || len(r[1].Aspects) != 2 || r[1].Value("host") != "h" || r[2].Aspects != nil ||
		r[1].Aspects[0].Weight != Decides || f != a.Frame || a.asked["run"] != "2" || a.asked["others"] != "1,3" {
		t.Errorf("%+v, %v, asked %v", r, err, a.asked)
	}
	a.Rows[2][2] = "heavy"
	if _, _, err := Load(t.Context(), a, []string{"1"}); err == nil || !strings.Contains(err.Error(), `"heavy" of GPU is none of`) {
		t.Errorf("%v", err)
	}
	if r, _, err := Load(t.Context(), nil, nil); r != nil || err != nil {
		t.Errorf("no runs: %v, %v", r, err)
	}
}
