package queries_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// indexSizes are of indexes that add nothing up, and of some that add up nearly all, from parts of a few rows.
var indexSizes = [][3]int{{1 << 30, 64, 1 << 20}, {16, 64, 100_000}, {0, 3, 1000}}

func timelineOf(t *testing.T, w *schema.Warehouse, run string, size [3]int) *queries.Timeline {
	t.Helper()
	r, err := w.Resolve(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	tl, err := queries.NewSmallTimeline(t.Context(), queries.NewAsker(w), r.ID, "", size[0], size[1], size[2])
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

// busyOf adds up the marks of windows that lie next to each other, by track; items are those that begin there.
func busyOf(t *testing.T, w *schema.Warehouse, tl *queries.Timeline, from, to, long int64, bins int) (busy, items map[int]int64) {
	t.Helper()
	busy, items = map[int]int64{}, map[int]int64{}
	for at := from; at < to; at += long {
		x, err := tl.Window(t.Context(), w, queries.TimelineAsked{FromNs: at, ToNs: at + long, Bins: bins})
		if err != nil {
			t.Fatal(err)
		}
		if x.FromNs != at || x.ToNs != at+long {
			t.Fatalf("a tile of %d ns from %d is answered from %d to %d", long, at, x.FromNs, x.ToNs)
		}
		for _, m := range x.Tracks {
			for i := range m.StartNs {
				if busy[m.Track] += m.BusyNs[i]; m.Count[i] > 0 {
					items[m.Track] += m.Count[i]
				} else if m.StartNs[i] >= at && m.LongestNs[i] == m.DurationNs[i] {
					items[m.Track]++
				}
				if m.BusyNs[i] < 0 || m.BusyNs[i] > m.DurationNs[i] {
					t.Errorf("track %d: busy for %d of %d ns", m.Track, m.BusyNs[i], m.DurationNs[i])
				}
			}
		}
	}
	return busy, items
}

// TestTimelineConserves holds that at every level the marks of all tiles add up to the time in which any item of a track ran, as the raw rows
// have it, and to their number.
func TestTimelineConserves(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	type indexed struct {
		run  string
		size [3]int
	}
	list := []indexed{{"nccl2", indexSizes[0]}, {"nccl2", indexSizes[1]}, {"variants-graph", indexSizes[1]}, {"kernels", indexSizes[1]}, {"nccl2", indexSizes[2]}, {"variants-graph", indexSizes[2]}, {"variants-node", indexSizes[1]}, {"variants-graph", indexSizes[0]}}
	for _, x := range sample.Of(list, 2) {
		run, size, work := x.run, x.size, laneWork(t, w, x.run)
		tl := timelineOf(t, w, run, size)
		about := tl.About()
		for _, k := range about.Tracks {
			if spans := work[fmt.Sprint(deref(k.Device), k.Kind)]; k.IsWhole && k.Kind != "gpu" && (covered(spans) != k.BusyNs || int64(len(spans)) != k.Count) {
				t.Errorf("%s, index %v: %s of GPU %d: %d items busy for %d ns, not %d and %d", run, size, k.Kind, *k.Device, k.Count, k.BusyNs, len(spans), covered(spans))
			}
		}
		whole := int64(1) << 62
		for level := 62; int64(1)<<level > about.EndNs-about.BeginNs; level-- {
			whole = 1 << level
		}
		from := about.BeginNs &^ (whole - 1)
		for _, tile := range []int64{whole, whole / 16} {
			for _, bins := range []int{1, 512} {
				if tile < whole && bins == 1 && run != "nccl2" {
					continue
				}
				busy, items := busyOf(t, w, tl, from, from+2*whole, tile, bins)
				for _, k := range about.Tracks {
					if busy[k.ID] != k.BusyNs {
						t.Errorf("%s, index %v, tiles of %d ns in %d bins: %s %d is busy for %d ns, not %d", run, size, tile, bins, k.Kind, k.ID, busy[k.ID], k.BusyNs)
					}
					if items[k.ID] != k.Count {
						t.Errorf("%s, index %v, tiles of %d ns in %d bins: %s %d has %d items, not %d", run, size, tile, bins, k.Kind, k.ID, items[k.ID], k.Count)
					}
				}
			}
		}
	}
}

func deref(n *int64) int64 {
	if n == nil {
		return math.MinInt64
	}
	return *n
}

// TestTimelineAccounts holds that all work of a GPU takes the time that its accounting says.
func TestTimelineAccounts(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, run := range timelineRuns {
		for _, k := range timelineOf(t, w, run, indexSizes[2]).About().Tracks {
			if k.Kind != "gpu" {
				continue
			}
			want := rows(t, w, fmt.Sprintf(`SELECT kernel_ns + graph_ns + copy_ns FROM device_time d JOIN run r USING (run_id) WHERE r.name = '%s' AND d.range_id IS NULL AND d.device_id = %d`, run, *k.Device))
			if got := fmt.Sprintf("[%d]", k.BusyNs); len(want) != 1 || want[0] != got {
				t.Errorf("%s: GPU %d is busy for %s ns, not %v", run, *k.Device, got, want)
			}
		}
	}
}

// TestTimelineBusy holds that sums between any two times are those of the raw rows, wherever the bins of the index lie.
func TestTimelineBusy(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, run := range []string{"nccl2", "variants-node"} {
		work := laneWork(t, w, run)
		tl := timelineOf(t, w, run, indexSizes[2])
		about := tl.About()
		long := about.EndNs - about.BeginNs
		for _, x := range [][2]int64{{about.BeginNs, about.EndNs}, {about.WorkBeginNs + long/3, about.WorkBeginNs + long/3 + 1}, {about.WorkBeginNs + long/7, about.WorkBeginNs + long/5}, {about.BeginNs - 1000, about.WorkBeginNs + 12345}, {about.EndNs, about.EndNs + 1}} {
			list, err := tl.Busy(t.Context(), w, queries.TimelineAsked{FromNs: x[0], ToNs: x[1]})
			if err != nil {
				t.Fatal(err)
			}
			busy := map[int]int64{}
			for _, b := range list {
				busy[b.Track] = b.BusyNs
			}
			for _, k := range about.Tracks {
				if !k.IsWhole || k.Kind == "gpu" {
					continue
				}
				var inside []worked
				for _, s := range work[fmt.Sprint(*k.Device, k.Kind)] {
					if s.end > x[0] && s.start < x[1] {
						inside = append(inside, worked{max(s.start, x[0]), min(s.end, x[1])})
					}
				}
				if want := covered(inside); busy[k.ID] != want {
					t.Errorf("%s from %d to %d: %s of GPU %d is busy for %d ns, not %d", run, x[0], x[1], k.Kind, *k.Device, busy[k.ID], want)
				}
			}
		}
	}
}

// TestTimelineInside holds that of any stretch between works, busy and idle time by causes add up to it on each GPU, and that nothing that is
// said of it is longer than it.
func TestTimelineInside(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	tl := timelineOf(t, w, "nccl2", indexSizes[2])
	about := tl.About()
	for _, k := range about.Tracks {
		if k.Kind != "gpu" {
			continue
		}
		device := fmt.Sprint(*k.Device)
		ends := rowsOf(t, w, "SELECT min(k.start_ns), max(k.start_ns) FROM kernel k JOIN run r USING (run_id) WHERE r.name = 'nccl2' AND k.device_id = %s", device)
		first, last := ends[0][0].(int64), ends[0][1].(int64)
		long := last - first
		for _, x := range [][2]int64{{first, last}, {first + long/3, first + long/3 + 1}, {first + long/7, first + long/5}, {last - 2_540_000, last}} {
			list, err := tl.Busy(t.Context(), w, queries.TimelineAsked{FromNs: x[0], ToNs: x[1]})
			if err != nil {
				t.Fatal(err)
			}
			sum := int64(0)
			for _, b := range list {
				if b.Track == k.ID {
					sum = b.BusyNs
				}
			}
			args := queries.Args{"run": "nccl2", "device": device, "of_source": fmt.Sprint(k.SourceID), "from_time": fmt.Sprint(x[0]), "until_time": fmt.Sprint(x[1])}
			idle := testkit.Query(t, w, "timeline-idle", args)
			args["top"] = "0"
			gaps, sums := testkit.Query(t, w, "timeline-gaps", args), testkit.Query(t, w, "timeline-sums", args)
			if sum += total(idle, "total_ns"); sum != x[1]-x[0] || total(gaps, "inside_ns") != total(idle, "total_ns") || total(idle, "gap_count") != int64(len(gaps.Rows)) {
				t.Errorf("GPU %s from %d to %d: busy and idle for %d of %d ns; idle for %d ns, in gaps for %d", device, x[0], x[1], sum, x[1]-x[0], total(idle, "total_ns"), total(gaps, "inside_ns"))
			}
			for _, c := range [][]any{column(gaps, "inside_ns"), column(sums, "longest_ns")} {
				for _, ns := range c {
					if ns := ns.(int64); ns < 0 || ns > x[1]-x[0] {
						t.Errorf("GPU %s from %d to %d: something takes %d of %d ns", device, x[0], x[1], ns, x[1]-x[0])
					}
				}
			}
		}
	}
}

// TestTimelineHostile holds that windows that make no sense are refused, and that strange ones are answered.
func TestTimelineHostile(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, size := range indexSizes {
		tl := timelineOf(t, w, "nccl2", size)
		about := tl.About()
		for _, c := range []struct {
			from, to int64
			bins     int
			refused  bool
		}{
			{10, 10, 0, true}, {10, 9, 0, true}, {math.MinInt64, math.MaxInt64, 0, true}, {0, math.MaxInt64, 0, true}, {math.MaxInt64, math.MinInt64, 0, true}, {0, 10, -1, true}, {0, 10, 5000, true},
			{-1 << 56, 1 << 56, 0, false}, {-1 << 56, 1 << 56, 1, false}, {-5, -4, 0, false}, {about.WorkBeginNs, about.WorkBeginNs + 1, 0, false}, {about.WorkBeginNs, about.WorkBeginNs + 1, 4096, false}, {about.EndNs + 1, about.EndNs + 2, 0, false}, {1<<56 - 1, 1 << 56, 1, false},
		} {
			x, err := tl.Window(t.Context(), w, queries.TimelineAsked{FromNs: c.from, ToNs: c.to, Bins: c.bins})
			if c.refused != errors.Is(err, queries.ErrBadArgument) || !c.refused && err != nil {
				t.Errorf("from %d to %d in %d bins: %v", c.from, c.to, c.bins, err)
			}
			if err != nil {
				continue
			}
			marks := 0
			for _, m := range x.Tracks {
				marks += len(m.StartNs)
			}
			if marks > queries.TimelineMarks || x.FromNs > c.from || x.ToNs < c.to {
				t.Errorf("from %d to %d in %d bins: %d marks from %d to %d", c.from, c.to, c.bins, marks, x.FromNs, x.ToNs)
			}
			if _, err := tl.Busy(t.Context(), w, queries.TimelineAsked{FromNs: c.from, ToNs: c.to}); err != nil {
				t.Errorf("busy from %d to %d: %v", c.from, c.to, err)
			}
		}
	}
}
