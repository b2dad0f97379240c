package chart

import (
	"fmt"
	"strings"
	"testing"

	"prof/render/rendertest"
)

// TestSkewFigure holds how dark each pass of each rank is, that warm-up sets no scale, and that what is not known is neither dark nor first.
func TestSkewFigure(t *testing.T) {
	f, err := newSkewFigure(rendertest.RankPassesFrame())
	if err != nil || len(f.Ranges) != 2 {
		t.Fatalf("%+v, %v", f, err)
	}
	s := f.Ranges[0]
	var got []string
	for _, r := range s.Ranks {
		var cells []string
		for _, c := range r.Cells {
			cells = append(cells, c.Shade+" "+c.Text)
		}
		got = append(got, r.Name+": "+strings.Join(cells, ", ")+"; "+r.Most)
	}
	if want := "rank 0: 0.00 0, 0.00 0, 0.25 250 ns; most 250 ns\nrank 1: 1.00 4 us, 1.00 1 us,  ; most 1 us"; strings.Join(got, "\n") != want {
		t.Errorf("the cells are\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	if s.Label != "prefill, 3 passes" || s.Said != "Empty: first in every collective. Full: 1 us late or later. Passes in brackets are warm-up, which set no scale." || fmt.Sprint(s.Ticks) != "[{16.667% (1)} {50.000% 2} {83.333% 3}]" {
		t.Errorf("%s: %s %v", s.Label, s.Said, s.Ticks)
	}
	if title := s.Ranks[1].Cells[2].Title; title != "rank 1, pass 3: no matched collective" {
		t.Errorf("of a pass that is not known it says %q", title)
	}
	if said := f.Ranges[1].Said; !strings.HasSuffix(said, "The offset between the clocks of the ranks is unknown: see clock-offsets.") {
		t.Errorf("without clocks it says %q", said)
	}
}

// TestSkewFigureIsSmall holds that many passes share columns, whose shade is the mean over their collectives, and that of many ranks those
// that were waited for are drawn.
func TestSkewFigureIsSmall(t *testing.T) {
	var rows [][]any
	for pass := range int64(240) {
		for rank := range int64(40) {
			rows = append(rows, []any{"decode", pass + 1, fmt.Sprint("rank ", rank), float64(rank * (pass % 4)), int64(1), rank, false, int64(100), int64(1)})
		}
	}
	f, err := newSkewFigure(rendertest.FrameOf("rank-passes", "range pass rank late_mean_ns calls late_ns is_warmup clock_error_ns job_id", rows...))
	if err != nil {
		t.Fatal(err)
	}
	s := f.Ranges[0]
	if len(s.Ranks) != skewRanks || s.Ranks[0].Name != "rank 24" || len(s.Ranks[0].Cells) != skewColumns || s.Height != skewRanks*skewRow {
		t.Errorf("%d ranks from %s, %d columns", len(s.Ranks), s.Ranks[0].Name, len(s.Ranks[0].Cells))
	}
	last := s.Ranks[skewRanks-1].Cells[1]
	if want := "rank 39, passes 5 to 8: 58.5 ns late in the mean of 4 collectives"; last.Title != want || last.Shade != "1.00" || s.Ranks[0].Cells[1].Shade != "0.62" || last.Text != "" {
		t.Errorf("%q, %s, %s", last.Title, last.Shade, s.Ranks[0].Cells[1].Shade)
	}
	if want := "Empty: first in every collective. Full: 58.5 ns late or later. The clocks of the ranks agree to 100 ns: less than that is no difference. Of 40 ranks the 16 that the others waited for longest are drawn."; s.Said != want {
		t.Errorf("it says %s", s.Said)
	}
}
