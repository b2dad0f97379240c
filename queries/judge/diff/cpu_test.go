package diff

import (
	"testing"
)

// TestShortPasses holds that the CPU time of passes of microseconds, which one process takes three times as long for in one recording as in another, is no
// change between single processes or few runs. The times are those of recordings of one process.
func TestShortPasses(t *testing.T) {
	t.Parallel()
	of := func(name string, times ...float64) runData {
		d := made(name, 1, base(nil))
		d.passes = d.passes[:0]
		for i, ns := range times {
			d.passes = append(d.passes, pass{stage: "decode", number: int64(i + 1), repeat: 1, source: 1, cpu: new(int64(ns)), span: new(int64(42_000)), time: new(int64(42_000)), busy: 23_000, sum: 23_000, kernels: new(int64(3)), parts: parts{work: 23_000}})
			d.passes[i].parts.idle[0] = 19_000
		}
		d.work = nil
		for i := range times {
			w := work1("kernel", "gemm", 3, 23_000)
			w.number = int64(i + 1)
			d.work = append(d.work, w)
		}
		return d
	}
	first, second, third := of("a", 119_575, 121_324, 84_624), of("b", 143_466, 91_503, 81_891, 84_841), of("c", 64_776, 47_378, 41_809, 41_445, 42_396)
	for name, a := range map[string][]runData{"one process": {first}, "two runs": {first, second}} {
		for _, metric := range []string{"cpu_ns", spanMetric} {
			o := bare
			o.Metric = metric
			st := stageOf(t, compared(t, a, []runData{third}, o), "decode")
			verdict := st.Verdict
			for _, m := range st.More {
				if m.Name == "cpu_ns" {
					verdict = m.Verdict
				}
			}
			if verdict != CannotTell {
				t.Errorf("%s by %s: CPU time is %s: %s", name, metric, verdict, st.Words)
			}
		}
	}
}
