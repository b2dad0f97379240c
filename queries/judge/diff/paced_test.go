package diff

import (
	"strings"
	"testing"
)

// TestPaced holds what stages are judged by whose passes follow each other: the time from pass to pass where that is longer than their work on the GPU takes,
// unless the caller asks for another time.
func TestPaced(t *testing.T) {
	t.Parallel()
	of := func(name string, span float64, intervals ...float64) runData {
		d := made(name, 1, base(nil))
		d.passes, d.work = nil, nil
		for i, every := range intervals {
			p := pass{stage: "decode", number: int64(i + 1), repeat: 1, source: 1, cpu: new(int64(every)), span: new(int64(span)), time: new(int64(span)), busy: int64(span / 2), sum: int64(span / 2), kernels: new(int64(3)), parts: parts{work: int64(span / 2)}}
			if i+1 < len(intervals) && every > 0 { // nothing follows the last one
				p.interval = new(int64(every))
			}
			p.parts.idle[0] = int64(span) - p.parts.work
			w := work1("kernel", "gemm", 3, p.parts.work)
			w.number = p.number
			d.passes, d.work = append(d.passes, p), append(d.work, w)
		}
		return d
	}
	const ms = 1e6
	slow := []runData{of("a1", 40*ms, 120*ms, 121*ms, 120*ms), of("a2", 40*ms, 119*ms, 121*ms, 120*ms), of("a3", 40*ms, 121*ms, 121*ms, 120*ms)}
	fast := []runData{of("b1", 40*ms, 60*ms, 61*ms, 60*ms), of("b2", 40*ms, 60.4*ms, 60.4*ms, 60*ms), of("b3", 40*ms, 60*ms, 60*ms, 60*ms)}
	alone, tight := []runData{of("c", 40*ms, 0, 0, 0)}, []runData{of("d", 40*ms, 41*ms, 41*ms, 41*ms)}
	for name, c := range map[string]struct {
		a, b           []runData
		metric, judged string
		want           Verdict
		words          string
	}{
		"faster":                      {slow, fast, "", intervalMetric, Better, "decode 49.9 % faster from pass to pass (120 ms -> 60.4 ms); the GPU span of a pass is 40.0 ms (no change)"},
		"slower":                      {fast, slow, "", intervalMetric, Worse, "decode 99.5 % slower from pass to pass"},
		"one process a side":          {slow[:1], fast[:1], "", intervalMetric, CannotTell, "decode: cannot tell (120 ms -> 60.5 ms from pass to pass, -50 %"},
		"by the GPU, as asked":        {slow, fast, spanMetric, spanMetric, NoChange, "decode: no change"},
		"nothing follows on one side": {slow[:1], alone, "", spanMetric, "", ""},
		"as long as the GPU's work":   {tight, tight, "", spanMetric, "", ""},
		"one side waits":              {slow[:1], tight, "", intervalMetric, Better, "decode 66.0 % faster from pass to pass (120 ms -> 41.0 ms)"},
	} {
		o := bare
		o.Metric = c.metric
		r := compared(t, c.a, c.b, o)
		st := stageOf(t, r, "decode")
		if st.Metric != c.judged || c.want != "" && (st.Verdict != c.want || r.Verdict != c.want) || !strings.Contains(r.Words, c.words) {
			t.Errorf("%s: by %s %s, %s: %q; %s", name, st.Metric, st.Verdict, r.Verdict, r.Words, st.Words)
		}
		if span, _ := st.of(spanMetric); span == nil || span.A != 40*ms {
			t.Errorf("%s: GPU span %+v", name, span)
		}
		if st.IsPaced() != (c.judged == intervalMetric) || (len(r.Next) == 3) != (r.Verdict == CannotTell) {
			t.Errorf("%s: next %q", name, r.Next)
		}
	}
}
