package serving

import (
	"fmt"
	"maps"
	"math"
	"time"

	"prof/capture/plan"
	"prof/capture/tracer"
)

// When launches count as steady: in two stretches of so many looks, one after the other, their rates differ by at most this share, at two looks.
const (
	lookEvery   = time.Second
	stretch     = 4
	steadyShare = 0.1
)

// Steady is what was seen of an engine under load before the window.
type Steady struct {
	Is        bool          // the rate of launches was flat
	Waited    time.Duration // under load
	Processes int           // that launched GPU work
	Rate      float64       // launches of kernels and graphs a second, of all processes, in the last stretch
	Before    float64       // in the one before it
	Seen      bool          // Rate and Before are known
}

// rates are counts of launches, and when they were taken.
type rates struct {
	at     []time.Duration
	counts []int64
}

func (r *rates) add(at time.Duration, launches int64) {
	r.at, r.counts = append(r.at, at), append(r.counts, launches)
}

// last are the rates of the last two stretches before look n; ok is false where there are no two.
func (r *rates) last(n int) (before, rate float64, ok bool) {
	if n < 2*stretch {
		return 0, 0, false
	}
	of := func(from, to int) float64 {
		return float64(r.counts[to]-r.counts[from]) / (r.at[to] - r.at[from]).Seconds()
	}
	return of(n-2*stretch, n-stretch), of(n-stretch, n), true
}

// isFlat reports whether the rates before look n are as good as the same. An engine that launches nothing is not at work.
func (r *rates) isFlat(n int) bool {
	before, rate, ok := r.last(n)
	return ok && before > 0 && rate > 0 && math.Abs(rate-before) <= steadyShare*math.Max(rate, before)
}

// isSteady reports whether they were flat at the last two looks: at one they may be by chance, where the load comes in bursts.
func (r *rates) isSteady() bool {
	n := len(r.at) - 1
	return r.isFlat(n) && r.isFlat(n-1)
}

// waitSteady waits under load until launches are steady, but no longer than that may take.
func (r *recording) waitSteady() error {
	o, s := r.Options, &r.out.Steady
	if o.SteadyTimeout == 0 { // whoever asks knows when
		return nil
	}
	if err := r.Tell(tracer.SwitchWatch); err != nil {
		return err
	}
	begun := r.M.Now()
	var seen rates
	launched := map[int]int64{} // by all processes that there were
	for {
		now, err := tracer.Launches(r.Watched)
		if err != nil {
			return err
		}
		maps.Copy(launched, now)
		s.Waited = r.M.Now().Sub(begun)
		s.Processes = 0
		total := int64(0)
		for _, n := range launched {
			total += n
			if n > 0 {
				s.Processes++
			}
		}
		seen.add(s.Waited, total)
		s.Before, s.Rate, s.Seen = seen.last(len(seen.at) - 1)
		s.Is = seen.isSteady() && s.Waited >= o.Warm
		if s.Is || s.Waited >= o.SteadyTimeout {
			r.Talk(s.String())
			return nil
		}
		if err := r.pause(min(lookEvery, o.SteadyTimeout-s.Waited)); err != nil {
			return err
		}
	}
}

// String says how long was waited and what was seen.
func (s Steady) String() string {
	under := plan.Roughly(s.Waited) + " under load"
	processes := fmt.Sprintf("%d processes", s.Processes)
	if s.Processes == 1 {
		processes = "1 process"
	}
	switch {
	case s.Is:
		return fmt.Sprintf("steady after %s: %.0f launches a second in %s", under, s.Rate, processes)
	case s.Processes == 0:
		return fmt.Sprintf("recording all the same after %s (--steady-timeout): no process of the engine has launched GPU work", under)
	case !s.Seen:
		return fmt.Sprintf("recording after %s (--steady-timeout), before launches in %s could be compared", under, processes)
	}
	return fmt.Sprintf("recording all the same after %s (--steady-timeout): not steady, %.0f and then %.0f launches a second in %s", under, s.Before, s.Rate, processes)
}
