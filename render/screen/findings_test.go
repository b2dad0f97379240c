package screen

import (
	"bytes"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/doc"
	"prof/render/typeset"
	"prof/render/words"
)

func idle(change func(x *judge.Finding)) judge.Finding {
	x := judge.Finding{Rank: 1, ID: "launch-bound", Stage: "decode", SavingNs: 631_584_123, ShareRatio: 0.5287, Bound: "at most", Title: "GPU idle: launches arrive too late",
		Evidence: "the GPU is busy 9.9 % of the time; launched one by one: 15,680 kernels a pass", Advice: "replay the work as a CUDA graph, or launch fewer and larger kernels", DeviceCount: 1,
		Command: "prof query gaps --run a-run-with-quite-a-long-name-for-a-run --stage decode --device 0", RunDeviceCount: 1, Passes: 3, SpanNs: 1_194_000_000, Gain: judge.Gain{NowNs: 18.2e6, ThenNs: 8.58e6, Per: "token", Bound: "at most"}}
	change(&x)
	return x
}

func TestFindings(t *testing.T) {
	list := []judge.Finding{idle(func(*judge.Finding) {}), idle(func(x *judge.Finding) {
		x.Rank, x.Stage, x.SavingNs, x.ShareRatio, x.Subject, x.DeviceCount, x.RunDeviceCount, x.SpanNs, x.Detail, x.Gain = 12, "", 800, 1, "k<1>\x1b[2J", 8, 8, 800, "prof query stragglers --run a", judge.Gain{NowNs: 800, Bound: "at most"}
	})}
	f := &frame.Frame{Notes: []string{"savings overlap and do not add up: fixing one changes the others"}}
	for limit, want := range map[int]string{60: `1  decode: 18.2 -> 8.58 ms/token at best (52.9 % less)
   GPU idle: launches arrive too late (launch-bound)
   the GPU is busy 9.9 % of the time; launched one by one:
   15,680 kernels a pass
   try: replay the work as a CUDA graph, or launch fewer and
        larger kernels
   see: prof query gaps --run a-run-with-quite-a-long-name-for-a-run --stage decode --device 0

2  all device work: 800 -> 0 ns at best (100.0 % less) on
   GPU 0, the most of 8 GPUs
   GPU idle: launches arrive too late (launch-bound)
   k<1>\x1b[2J
   the GPU is busy 9.9 % of the time; launched one by one:
   15,680 kernels a pass
   try: replay the work as a CUDA graph, or launch fewer and
        larger kernels
   see: prof query gaps --run a-run-with-quite-a-long-name-for-a-run --stage decode --device 0
        prof query stragglers --run a

note: savings overlap and do not add up: fixing one changes
      the others
`, 0: `1  decode: 18.2 -> 8.58 ms/token at best (52.9 % less)
   GPU idle: launches arrive too late (launch-bound)
   the GPU is busy 9.9 % of the time; launched one by one: 15,680 kernels a pass
   try: replay the work as a CUDA graph, or launch fewer and larger kernels
   see: prof query gaps --run a-run-with-quite-a-long-name-for-a-run --stage decode --device 0

2  all device work: 800 -> 0 ns at best (100.0 % less) on GPU 0, the most of 8 GPUs
   GPU idle: launches arrive too late (launch-bound)
   k<1>\x1b[2J
   the GPU is busy 9.9 % of the time; launched one by one: 15,680 kernels a pass
   try: replay the work as a CUDA graph, or launch fewer and larger kernels
   see: prof query gaps --run a-run-with-quite-a-long-name-for-a-run --stage decode --device 0
        prof query stragglers --run a

note: savings overlap and do not add up: fixing one changes the others
`} {
		if got := written(t, list, f, typeset.Options{Width: limit}); got != want {
			t.Errorf("in %d columns:\n%s\nwant\n%s", limit, got, want)
		}
	}
	if got := written(t, list, f, typeset.Options{Color: true}); !strings.HasPrefix(got, typeset.Bold+"1  decode: 18.2 -> 8.58 ms/token at best (52.9 % less)\x1b[0m\n") {
		t.Errorf("in colour: %q", got)
	}
	if got := written(t, nil, &frame.Frame{}, typeset.Options{}); got != "There are no findings.\n" {
		t.Errorf("without findings: %q", got)
	}
}

// TestFindingHeadline holds when a GPU is named, and the words for what could be gained.
func TestFindingHeadline(t *testing.T) {
	for want, change := range map[string]func(x *judge.Finding){
		"decode: 45.9 -> 36.9 ms per pass at best (19.6 % less)":                           func(x *judge.Finding) { x.Gain.NowNs, x.Gain.ThenNs, x.Gain.Per = 45.9e6, 36.9e6, "pass" },
		"decode: about 1.20 s -> 900 ms/token (25.0 % less)":                               func(x *judge.Finding) { x.Gain.NowNs, x.Gain.ThenNs, x.Gain.Bound = 1.2e9, 0.9e9, "about" },
		"decode: less than 1 % of 18.2 ms/token (0 % less)":                                func(x *judge.Finding) { x.Gain.ThenNs = x.Gain.NowNs },
		"decode: 18.2 -> 8.58 ms/token at best (52.9 % less) on GPU 0":                     func(x *judge.Finding) { x.RunDeviceCount = 2 },
		"decode: 18.2 -> 8.58 ms/token at best (52.9 % less) on GPU 1, the most of 2 GPUs": func(x *judge.Finding) { x.Device, x.DeviceCount, x.RunDeviceCount = 1, 2, 2 },
		"all device work: 18.2 -> 8.58 ms at best (52.9 % less)":                           func(x *judge.Finding) { x.Stage, x.Gain.Per = "", "" },
	} {
		if got := words.Findings([]judge.Finding{idle(change)})[0].Text; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestFindingSpans holds the lines that findings follow: stages where there are any, else the whole run, without what has no time.
func TestFindingSpans(t *testing.T) {
	part := func(stage string, device int64, kind string, total float64, passes int64, span float64) judge.PartRow {
		return judge.PartRow{Stage: stage, Device: device, Kind: kind, MedianPassNs: &total, Passes: passes, MedianPassSpanNs: &span}
	}
	whole := part("(run)", 0, "busy", 600, 2, 1000)
	stages := []judge.PartRow{whole, part("prefill", 0, "busy", 300, 1, 1000), part("prefill", 0, "busy", 100, 1, 1000), part("prefill", 0, "wait", 600, 1, 1000), part("prefill", 1, "host", 2000, 1, 2000),
		part("decode", 0, "busy", 118_000_000, 1234, 1_194_000_000)}
	for _, c := range []struct {
		rows        []judge.PartRow
		stage, want string
	}{
		{stages, "", "run a; prefill 3 us median of 4 passes, busy 40.0 % on GPU 0, 0 % on GPU 1; decode 1.19 s median of 1,234 passes on GPU 0, busy 9.9 %"},
		{stages, "decode", "run a; decode 1.19 s median of 1,234 passes on GPU 0, busy 9.9 %"},
		{stages, "(none)", "run a"},
		{[]judge.PartRow{whole}, "(none)", "run a; all device work 1 us on GPU 0, busy 60.0 %"},
		{[]judge.PartRow{whole}, "", "run a; all device work 1 us on GPU 0, busy 60.0 %"},
		{[]judge.PartRow{whole}, "decode", "run a"},
		{nil, "", "run a"},
	} {
		if got := strings.Join(typeset.Each(spanFacts("a", c.stage, []judge.StageSummary{{Stage: "prefill", Passes: 4, MedianNs: 3000}}, c.rows), func(f [2]string) string { return f[0] + " " + f[1] }), "; "); got != c.want {
			t.Errorf("stage %q: %q, want %q", c.stage, got, c.want)
		}
	}
}

// written is what a terminal shows of findings below what they are about.
func written(t *testing.T, list []judge.Finding, f *frame.Frame, o typeset.Options) string {
	t.Helper()
	d, err := Explain(Explained{Report: &judge.Report{Name: "a", Frames: map[string]*frame.Frame{"findings": f}}, Findings: list})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := doc.Terminal(&out, []doc.Document{d}, o); err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(out.String(), "\n\n")
	return text
}
