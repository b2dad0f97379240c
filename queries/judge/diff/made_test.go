package diff

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"prof/queries/judge/stats"
)

// kernel is a kernel of made passes.
type kernel struct {
	name, family, grid string
	calls              int64   // of a pass
	ns                 float64 // of a call
}

// madeStage says what a stage's passes are made of.
type madeStage struct {
	name           string
	passes         int
	prompt, decode int64 // tokens of a pass; 0: not known
	kernels        []kernel
	gap            float64 // idle ns before each kernel, launch-bound
	noise          float64 // relative standard deviation of each duration
	passNoise      float64 // and of all of a pass together
}

// made makes what the warehouse would hold of a run: a warm-up and measured passes of each stage, one kernel after the other.
func made(name string, seed uint64, stages ...madeStage) runData {
	random := rand.New(rand.NewPCG(seed, 7))
	out := runData{run: Run{ID: name, Name: name}, hashes: []string{name}}
	for _, st := range stages {
		for number := int64(1); number <= int64(st.passes)+1; number++ {
			p := pass{stage: st.name, number: number, repeat: 1, source: 1, isWarmup: number == 1, kernels: new(int64)}
			if st.prompt > 0 {
				p.prompt = new(st.prompt)
			}
			if st.decode > 0 {
				p.decode = new(st.decode)
			}
			scale := math.Exp(st.passNoise * random.NormFloat64())
			for _, k := range st.kernels {
				w := work{stage: st.name, number: number, repeat: 1, isWarmup: p.isWarmup, kind: "kernel", name: k.name, family: k.family, grid: k.grid, block: "128 x 1 x 1"}
				if k.name == "graph replay" {
					w.kind, w.grid, w.block = "graph", "", ""
				}
				for range k.calls {
					ns := int64(scale * k.ns * (1 + st.noise*random.NormFloat64()))
					w.tally.add(tally{calls: 1, total: ns, min: ns, max: ns})
					p.parts.idle[0] += int64(scale * st.gap * (1 + st.noise*random.NormFloat64()))
				}
				if w.kind == "graph" {
					p.kernels = nil
				}
				p.kernels = plus(p.kernels, &k.calls)
				p.busy += w.tally.total
				out.work = append(out.work, w)
			}
			p.sum, p.parts.work = p.busy, p.busy
			p.time = new(p.busy + p.parts.idle[0])
			p.span, p.cpu = p.time, p.time
			out.passes = append(out.passes, p)
		}
	}
	return out
}

// compared compares made sides.
func compared(t testing.TB, a, b []runData, o Options) *Result {
	t.Helper()
	o, err := o.whole()
	if err != nil {
		t.Fatal(err)
	}
	r := &Result{A: sideOf(a), B: sideOf(b), Options: o, Same: same(a, b)}
	if err := r.compare(a, b, surroundings{}); err != nil {
		t.Fatal(err)
	}
	said.Add([]any{r.Words, r.Notes, r.Stages})
	return r
}

func sideOf(list []runData) Side {
	s := Side{Label: fmt.Sprint(len(list), " runs")}
	for _, r := range list {
		s.Runs = append(s.Runs, r.run)
	}
	return s
}

func stageOf(t testing.TB, r *Result, name string) Stage {
	t.Helper()
	for _, st := range r.Stages {
		if st.Name == name {
			return st
		}
	}
	t.Fatalf("no stage %q in %+v", name, r.Stages)
	return Stage{}
}

// random makes a run with all kinds of work, of a few shared and own kernels, with totals of many magnitudes.
func random(name string, r *rand.Rand) runData {
	out := runData{run: Run{ID: name, Name: name}, hashes: []string{name}}
	hasTokens := r.IntN(2) == 0
	for _, stage := range []string{"prefill", "decode", "vision"} {
		if r.IntN(5) == 0 {
			continue
		}
		passes := int64(1 + r.IntN(5))
		for number := int64(1); number <= passes; number++ {
			p := pass{stage: stage, number: number, repeat: 1 + int64(r.IntN(2)), source: 1, kernels: new(int64)}
			if hasTokens {
				p.prompt = new(1 + r.Int64N(3000))
			}
			for range 1 + r.IntN(12) {
				w := work{stage: stage, number: number, repeat: p.repeat, kind: "kernel", name: fmt.Sprint("kernel", r.IntN(9)), grid: fmt.Sprint(r.IntN(3)), block: "64 x 1 x 1"}
				w.family = [...]string{"", "gemm", "attention"}[len(w.name+w.grid)*int(w.name[6])%3]
				if r.IntN(6) == 0 {
					w.kind, w.name, w.family, w.grid, w.block = "copy", [...]string{"memcpy Host-to-Device", "memset"}[r.IntN(2)], "", "", ""
				}
				for range 1 + r.IntN(4) {
					ns := r.Int64N(int64(1) << (4 + r.IntN(40)))
					w.tally.add(tally{calls: 1, total: ns, min: ns, max: ns})
				}
				p.sum += w.tally.total
				out.work = append(out.work, w)
			}
			p.parts.work = r.Int64N(p.sum + 1)
			p.parts.other = r.Int64N(1000)
			p.busy, p.time = p.parts.work, new(p.parts.work+p.parts.other)
			for i := range p.parts.idle {
				p.parts.idle[i] = r.Int64N(int64(1) << (1 + r.IntN(30)))
				*p.time += p.parts.idle[i]
			}
			p.span = p.time
			out.passes = append(out.passes, p)
		}
	}
	out.work = append(out.work, work{stage: outside, repeat: 1, kind: "kernel", name: "kernel1", tally: tally{calls: 3, total: r.Int64N(1 << 40), min: 1, max: 1 << 40}})
	return out
}

// bare are options without a test that could be too strict for what is looked at.
var bare = Options{Stats: stats.DefaultOptions()}
