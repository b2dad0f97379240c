package queries_test

import (
	"math"
	"testing"

	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/queries/judge"
)

// TestMedianPass holds that what a stage's row says goes together, in every capture: its rate times its time are the tokens of a pass, the parts
// of its bar add up to its time, its busy share is that of the bar, and its utilisation is of its time.
func TestMedianPass(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	near := func(t *testing.T, what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	for _, run := range sample.Of(testkit.Rows(t, w, "SELECT DISTINCT r.name FROM run r JOIN stage_pass p USING (run_id) ORDER BY 1"), 4) {
		t.Run(run, func(t *testing.T) {
			args := queries.Args{"run": run}
			answer := testkit.Query(t, w, "stages", args)
			stages, err := judge.StageRows.Of(answer)
			if err != nil {
				t.Fatal(err)
			}
			parts, err := judge.PartRows.Of(testkit.Query(t, w, "accounting", args))
			if err != nil {
				t.Fatal(err)
			}
			tokens := map[string]map[float64]bool{}
			passes := testkit.Query(t, w, "passes", args)
			for _, row := range passes.Rows {
				stage, isWarmup, n := row[passes.Index("stage")].(string), row[passes.Index("is_warmup")].(bool), row[passes.Index("token_count")]
				if tokens[stage] == nil {
					tokens[stage] = map[float64]bool{}
				}
				if n, is := n.(int64); is && !isWarmup {
					tokens[stage][float64(n)] = true
				}
			}
			for i, s := range stages {
				ratio, hasBusy := answer.Rows[i][answer.Index("busy_ratio")].(float64)
				median, isKnown := frame.Finite(s.GPUSpanMedianNs)
				if rate := s.GPUSpanTokensPerS; rate != nil && len(tokens[s.Stage]) == 1 {
					for n := range tokens[s.Stage] {
						near(t, s.Stage+": tokens/s x median pass", *rate*median/1e9, n)
					}
				}
				spans, sums, busy := map[int64]float64{}, map[int64]float64{}, map[int64]float64{}
				for _, p := range parts {
					if p.Stage == s.Stage {
						spans[p.Device], sums[p.Device] = *p.MedianPassSpanNs, sums[p.Device]+*p.MedianPassNs
						if p.Kind == "busy" {
							busy[p.Device] += *p.MedianPassNs
						}
					}
				}
				for device, span := range spans {
					near(t, s.Stage+": parts of the median pass", sums[device], span)
					if len(spans) == 1 && hasBusy && isKnown {
						near(t, s.Stage+": span", span, median)
						near(t, s.Stage+": busy", busy[device]/span, ratio)
					}
				}
				if ratio < 0 || ratio > 1 {
					t.Errorf("%s: busy %g", s.Stage, ratio)
				}
			}
			use := testkit.Query(t, w, "mfu", args)
			for _, row := range use.Rows {
				at := func(column string) (float64, bool) { v, is := row[use.Index(column)].(float64); return v, is }
				flop, hasFlop := at("flop")
				peak, hasPeak := at("peak_flop_per_s")
				ns, hasTime := at("time_ns")
				if ratio, is := at("mfu_ratio"); is && hasFlop && hasPeak && hasTime {
					near(t, row[use.Index("stage")].(string)+": MFU x peak x time", ratio*peak*ns/1e9, flop)
				}
			}
		})
	}
}

// TestGainOfCaptures holds that findings begin at what the row of their stage says, and that the first line and the row have one busy share.
func TestGainOfCaptures(t *testing.T) {
	t.Parallel()
	for _, run := range []string{"utilised", "nccl2"} {
		s, err := reportOf(t, run).Summary()
		if err != nil {
			t.Fatal(err)
		}
		for _, stage := range s.Stages {
			if stage.BusyRatio == nil || *stage.BusyRatio <= 0 || *stage.BusyRatio > 1 {
				t.Errorf("%s: %s: busy %v", run, stage.Stage, stage.BusyRatio)
			}
			if x := stage.Token; x != nil && x.BusyNs != nil && math.Abs(*x.BusyNs/x.Ns-*stage.BusyRatio) > 1e-12 {
				t.Errorf("%s: %s: busy %g of a token, %g of the pass", run, stage.Stage, *x.BusyNs/x.Ns, *stage.BusyRatio)
			}
		}
		for _, x := range s.Findings {
			for _, stage := range s.Stages {
				now := stage.MedianNs
				if stage.Token != nil {
					now = stage.Token.Ns
				}
				if stage.Stage == x.Stage && (x.Gain.NowNs != now || x.Gain.ThenNs < 0 || x.Gain.ThenNs > now) {
					t.Errorf("%s: %s of %s: %s of %g ns", run, x.ID, x.Stage, x.Gain.Text(), now)
				}
			}
		}
	}
}

// TestMedianSaving: what is without waiting in each of these passes has a median of 467 us, though the pass in the middle alone would have 318.
func TestMedianSaving(t *testing.T) {
	t.Parallel()
	testkit.Expect(t, testkit.All(t), "SELECT _median_saving(waits, span)::BIGINT FROM (VALUES (789, 471), (670, 203), (1374, 1046), (865, 0), (742, 0)) v(span, waits)", "322")
}
