package chart

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"prof/queries/judge"
	"prof/render/rendertest"
	"prof/render/typeset"
)

// workRowOf is a kernel of source 1 and process 9 on GPU 0.
func workRowOf(window, stream, start, long int64, name string) []any {
	return []any{window, int64(1), int64(0), int64(9), stream, "kernel", start, long, name, "decode", int64(1), int64(9), start - 500}
}

// decodedPiece is a piece of work as the page's script reads it.
type decodedPiece struct {
	row, stream, lane, name, stage string
	start, long                    int64
}

func (p decodedPiece) String() string {
	return fmt.Sprintf("%s|%s|%s|%s|%s|%d+%d", p.row, p.stream, p.lane, p.name, p.stage, p.start, p.long)
}

// runsOf reads runs of equal names as the script does.
func runsOf(t *testing.T, d *TimelineData, runs []int64) []string {
	t.Helper()
	var out []string
	for i := 0; i < len(runs); i += 2 {
		name := "(unknown)"
		if runs[i] >= 0 {
			name = d.Names[runs[i]]
		}
		for range runs[i+1] {
			out = append(out, name)
		}
	}
	return out
}

// decoded reads the data as the script does, from their text.
func decoded(t *testing.T, d *TimelineData) (pieces []decodedPiece, bytes int) {
	t.Helper()
	text, err := d.script()
	if err != nil {
		t.Fatal(err)
	}
	var page TimelineData
	if err := json.Unmarshal([]byte(text), &page); err != nil {
		t.Fatal(err)
	}
	for _, row := range page.Rows {
		for _, s := range row.Streams {
			stages, end := runsOf(t, &page, s.Stages), int64(0)
			streams := slices.Repeat([]string{s.Name}, len(s.Items)/3)
			if s.Streams != nil {
				streams = runsOf(t, &page, s.Streams)
			}
			if len(stages) != len(s.Items)/3 || len(streams) != len(stages) {
				t.Fatalf("%s of %s: %d numbers, %d stages, %d streams", s.Name, row.Label, len(s.Items), len(stages), len(streams))
			}
			for i := 0; i < len(s.Items); i += 3 {
				work, start := page.Works[s.Items[i+2]], end+s.Items[i]
				end = start + s.Items[i+1]
				pieces = append(pieces, decodedPiece{row.Label, streams[i/3], page.Names[work[1]], page.Names[work[0]], stages[i/3], start + row.Zero, s.Items[i+1]})
			}
		}
	}
	return pieces, len(text)
}

// manyKernels is a timeline of one GPU with so many kernels in two overlapping windows, on as many streams.
func manyKernels(kernels, streams, names int) *judge.Timeline {
	seed := rand.New(rand.NewPCG(1, 2))
	var rows, both [][]any
	at := int64(5_000_000_000)
	for i := range kernels {
		long := 1000 + seed.Int64N(60_000)
		name := fmt.Sprintf("void at::native::vectorized_elementwise_kernel<4, at::native::functor_%d<float>, std::array<char*, 2>>(int, at::native::functor_%[1]d<float>, std::array<char*, 2>)", seed.IntN(names))
		row := workRowOf(1, int64(i%streams), at, long, name)
		row[5] = []string{"kernel", "kernel", "kernel", "collective", "copy", "graph"}[seed.IntN(6)]
		row[9] = []any{"decode", "prefill", nil}[i*3/kernels]
		rows = append(rows, row)
		if i >= kernels/2 && i < kernels/2+100 { // what two windows show
			again := slices.Clone(row)
			again[0] = int64(2)
			both = append(both, again)
		}
		at += long + seed.Int64N(9000) - 2000
	}
	t := rendertest.ReportTimeline()
	t.Blocks = rendertest.FrameOf("timeline-blocks", "device lane start_ns end_ns busy_ns work_count longest longest_ns source_id",
		[]any{int64(0), "kernel", int64(4_999_999_000), at + 1_000_000, at - 5_000_000_000, int64(kernels), "k", int64(60_000), int64(1)})
	t.Passes.Rows, t.Gaps.Rows, t.Ranges = nil, nil, nil
	t.Windows = rendertest.FrameOf("timeline-windows", "window source_id device stage pass start_ns end_ns work_count shown_count is_whole",
		[]any{int64(1), int64(1), int64(0), "decode", int64(2), int64(5_000_000_000), at, int64(kernels + 10), int64(kernels), false})
	t.Kernels = rendertest.FrameOf("timeline-kernels", rendertest.TimelineKernels, append(rows, both...)...)
	return t
}

// TestTimelineKernels holds that each piece of work is in the data once, at its time to the nanosecond, whatever line it is on.
func TestTimelineKernels(t *testing.T) {
	for _, streams := range []int{1, 3, 40} {
		tl := manyKernels(5000, streams, 70)
		seen := map[string]int{}
		for _, r := range tl.Kernels.Rows {
			stage := "(unknown)"
			if r[9] != nil {
				stage = r[9].(string)
			}
			p := decodedPiece{"GPU 0", fmt.Sprintf("stream %d", r[4]), r[5].(string), r[8].(string), stage, r[6].(int64), r[7].(int64)}
			seen[p.String()] = 1
		}
		if len(seen) != 5000 {
			t.Fatalf("the frame has %d", len(seen))
		}
		d, err := laid(tl)
		if err != nil {
			t.Fatal(err)
		}
		pieces, _ := decoded(t, d)
		for _, p := range pieces {
			seen[p.String()]--
		}
		for p, left := range seen {
			if left != 0 {
				t.Fatalf("%d streams: %s is there %d times", streams, p, 1-left)
			}
		}
		if len(d.Rows[0].Streams) != min(streams, mostStreams) || len(pieces) != 5000 {
			t.Errorf("%d streams: %d lines with %d pieces", streams, len(d.Rows[0].Streams), len(pieces))
		}
	}
}

// TestTimelineEqualKernels holds that two pieces of work that are alike in all the query tells are two in one window, and one in two windows.
func TestTimelineEqualKernels(t *testing.T) {
	tl := manyKernels(10, 1, 1)
	k := workRowOf(1, 0, 5_000_000_000, 7, "k")
	other := slices.Clone(k)
	other[0] = int64(2)
	tl.Kernels.Rows = [][]any{k, k, other}
	d, err := laid(tl)
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Rows[0].Streams[0].Items; !slices.Equal(got, []int64{5_000_000_000, 7, 0, -7, 7, 0}) {
		t.Errorf("the items are %v", got)
	}
}

// TestTimelineSmall holds that the most kernels that a page gets take little of it.
func TestTimelineSmall(t *testing.T) {
	d, err := laid(manyKernels(40_000, 4, 400))
	if err != nil {
		t.Fatal(err)
	}
	_, bytes := decoded(t, d)
	if t.Logf("40,000 kernels take %d bytes", bytes); bytes > 900_000 {
		t.Error("that is more than 900,000")
	}
	d, err = laid(manyKernels(20_000, 1, 1_000_000)) // a new name nearly each time
	if err != nil {
		t.Fatal(err)
	}
	whole := 0
	for _, name := range d.Names {
		if !strings.Contains(name, typeset.Ellipsis) {
			whole += len(name)
		}
	}
	if _, bytes := decoded(t, d); bytes > 3_000_000 || whole > wholeNames+wholeName {
		t.Errorf("20,000 kernels with names of their own take %d bytes, whole names %d", bytes, whole)
	}
}

// TestTimelineStreamNames holds that streams of several processes and contexts are told apart, and missing numbers are no 0.
func TestTimelineStreamNames(t *testing.T) {
	tl := manyKernels(10, 1, 1)
	at := int64(5_000_000_000)
	other, context, unknown := workRowOf(1, 7, at, 1, "k"), workRowOf(1, 7, at, 1, "k"), workRowOf(1, 7, at, 1, "k")
	other[3], context[10], unknown[4], unknown[3] = int64(10), int64(2), nil, nil
	for _, c := range []struct {
		rows [][]any
		want string
	}{
		{[][]any{workRowOf(1, 7, at, 1, "k")}, "stream 7"},
		{[][]any{workRowOf(1, 7, at, 1, "k"), other}, "stream 7, process 9; stream 7, process 10"},
		{[][]any{workRowOf(1, 7, at, 1, "k"), context}, "stream 7, context 1; stream 7, context 2"},
		{[][]any{workRowOf(1, 7, at, 1, "k"), unknown}, "stream 7, process 9; stream unknown, process unknown"},
	} {
		tl.Kernels.Rows = c.rows
		d, err := laid(tl)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range d.Rows[0].Streams {
			got = append(got, s.Name)
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("the streams are %v, want %s", got, c.want)
		}
	}
	tl.Ranges = rendertest.ReportTimeline().Ranges
	range0 := tl.Ranges.Rows[0]
	range1 := slices.Clone(range0)
	range0[len(range0)-1], range1[1], range1[len(range1)-1] = int64(1), int64(10), int64(0)
	tl.Kernels.Rows, tl.Ranges.Rows = [][]any{workRowOf(1, 7, at, 1, "k"), other, unknown}, [][]any{range0, range1}
	if d, err := laid(tl); err != nil || len(d.Rows[0].Streams) != 3 || d.Rows[0].Streams[0].Name != "stream 7, rank 1" || d.Rows[0].Streams[1].Name != "stream 7, rank 0" || d.Rows[0].Streams[2].Name != "stream unknown, process unknown" {
		t.Errorf("streams of ranks: %v, %+v", err, d.Rows[0].Streams)
	}
	third := slices.Clone(range1) // a child, which has the rank of process 10
	third[1] = int64(11)
	tl.Ranges.Rows, unknown[3] = append(tl.Ranges.Rows, third), int64(11)
	unknown[4] = int64(7)
	if d, err := laid(tl); err != nil || len(d.Rows[0].Streams) != 3 || d.Rows[0].Streams[0].Name != "stream 7, rank 1" || d.Rows[0].Streams[1].Name != "stream 7, process 10" || d.Rows[0].Streams[2].Name != "stream 7, process 11" {
		t.Errorf("streams of two processes of one rank: %v, %+v", err, d.Rows[0].Streams)
	}
	tl.Kernels.Rows = [][]any{workRowOf(1, 7, at, 1, "k")}
	tl.Kernels.Rows[0][2] = int64(5)
	if _, err := laid(tl); err == nil || err.Error() != "query timeline-kernels: row 1 is of GPU 5 of source 1, which has no blocks" {
		t.Errorf("a kernel of no GPU: %v", err)
	}
}

// TestTimelineWindows holds what the page says is drawn piece by piece, and where its links lead.
func TestTimelineWindows(t *testing.T) {
	tl := manyKernels(10, 1, 1)
	second := slices.Clone(tl.Windows.Rows[0])
	second[0], second[3], second[4], second[7], second[8] = int64(2), "pre\x1bfill", int64(3), int64(4), int64(4)
	tl.Windows.Rows = append(tl.Windows.Rows, second)
	f, err := NewTimeline(tl, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := `those of the first 10 of 20 of decode pass 2, pre\x1bfill pass 3 are in the page. Elsewhere work is drawn as blocks only.`; !strings.HasSuffix(f.Singly, want+tonesDoc) {
		t.Errorf("it says %s", f.Singly)
	}
	want := timelineLink{"decode pass 2", fmt.Sprintf("#timeline=5000000000,%d", tl.Windows.Rows[0][6])}
	if len(f.Links) != 2 || f.Links[0] != want || f.Links[1].Label != `pre\x1bfill pass 3` {
		t.Errorf("the links are %v, want %v first", f.Links, want)
	}
	for i := range tl.Windows.Rows { // all of the capture
		tl.Windows.Rows[i][3], tl.Windows.Rows[i][4], tl.Windows.Rows[i][9] = nil, nil, true
	}
	if f, err = NewTimeline(tl, nil); err != nil || len(f.Links) != 0 || !strings.Contains(f.Singly, "every kernel") {
		t.Errorf("of a whole capture: %v, %s, %v", err, f.Singly, f.Links)
	}
	tl.Windows, tl.Kernels, tl.Calls = nil, nil, nil
	if f, err = NewTimeline(tl, nil); err != nil || len(f.Links) != 0 || f.Singly != "" {
		t.Errorf("without windows: %v, %s, %v", err, f.Singly, f.Links)
	}
}

// TestTimelineWindowsTogether holds that a pass on several GPUs is one stretch, and where a pass is that is not on all of them.
func TestTimelineWindowsTogether(t *testing.T) {
	d := &TimelineData{Rows: make([]*timelineRow, 3)}
	window := func(device, pass, start, end, shown int64) windowRow {
		return windowRow{place: place{SourceID: 1, Device: device}, Stage: "decode", Pass: &pass, StartNs: start, EndNs: end, WorkCount: 5, ShownCount: shown}
	}
	for _, c := range []struct {
		windows []windowRow
		want    string
	}{
		{[]windowRow{window(0, 2, 100, 150, 5), window(1, 2, 90, 140, 4), window(2, 2, 95, 160, 5)}, "[{decode pass 2 #timeline=90,160}] the first 14 of 15 of decode pass 2 are"},
		{[]windowRow{window(0, 2, 100, 150, 5), window(1, 2, 90, 140, 5), window(2, 3, 200, 210, 5)}, "[{decode pass 2 on 2 GPUs #timeline=90,150} {decode pass 3 on GPU 2 #timeline=200,210}] decode pass 2 on 2 GPUs, decode pass 3 on GPU 2 are"},
	} {
		said, links := d.windows(c.windows)
		_, said, _ = strings.Cut(said, ": those of ")
		if got := fmt.Sprint(links, " ", said); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s\nnot %s", got, c.want)
		}
	}
}

// TestStageWindowOfGPUs holds that a stage is shown where all GPUs are in its pass, if that is nearly all of it, and else as the first GPU has it.
func TestStageWindowOfGPUs(t *testing.T) {
	d := &TimelineData{}
	pass := int64(2)
	for last, want := range map[int64]Window{1990: {1020, 1990}, 1500: {1000, 2000}} {
		var rows timelineRows
		for device, w := range [][2]int64{{1000, 2000}, {1020, 2030}, {990, last}} {
			rows.windows = append(rows.windows, windowRow{place: place{1, int64(device)}, Stage: "decode", Pass: &pass, StartNs: w[0], EndNs: w[1]})
		}
		if got := d.stageWindows(rows); len(got) != 1 || got[0].Window != want {
			t.Errorf("until %d: %v, not %v", last, got, want)
		}
	}
}

// TestTimelineRanges holds which ranges are drawn, on which thread and when, and what is said of the others.
func TestTimelineRanges(t *testing.T) {
	tl := rendertest.ReportTimeline()
	tl.Calls = nil
	columns := "source_id pid tid thread depth start_ns duration_ns name domain range_count rank"
	row := func(tid, depth, start, long int64, name, domain string) []any {
		return []any{int64(1), int64(9), tid, nil, depth, start, long, name, domain, int64(4000), nil}
	}
	tl.Ranges = rendertest.FrameOf("timeline-ranges", columns, row(8, 0, 1990, 5, "late", ""), row(9, 0, 500, 1000, "a", ""), row(9, 6, 1000, 100, "deep", ""),
		row(9, 1, 1100, 200, "b", "NCCL"), row(9, 0, 900_000, 1, "after", ""), row(9, 0, 1, 2, "before", ""))
	tl.Ranges.Rows[1][3] = "pt_main"
	d, err := laid(tl)
	if err != nil {
		t.Fatal(err)
	}
	unseen, err := threadsOf(d, tl)
	if err != nil {
		t.Fatal(err)
	}
	if want := "Ranges: the page has the longest 6 of 4,000; 2 before the first or after the last GPU work are not drawn; 1 nested more than 5 deep are not drawn."; unseen != want {
		t.Errorf("it says %s", unseen)
	}
	if len(d.Threads) != 2 || d.Threads[0].Label != "Thread 9 pt_main of process 9" || d.Threads[1].Label != "Thread 8 of process 9" {
		t.Fatalf("the threads are %+v", d.Threads)
	}
	name := func(text string) int64 { return int64(slices.Index(d.Names, text)) }
	want := []int64{500, 1000, 0, name("a"), -1, 600, 200, 1, name("b"), name("NCCL")}
	if got := d.Threads[0]; !slices.Equal(got.Items, want) || got.covered != 510 || got.Zero != 0 {
		t.Errorf("it has %v in %d from %d, want %v", got.Items, got.covered, got.Zero, want)
	}
	tl.Ranges.Rows = nil
	for tid := range int64(mostThreads + 3) {
		tl.Ranges.Rows = append(tl.Ranges.Rows, []any{int64(1), int64(9), tid, "t", int64(0), int64(1000), tid, "r", "", int64(mostThreads + 3), nil})
	}
	if unseen, err = threadsOf(d, tl); err != nil || len(d.Threads) != mostThreads || d.Threads[0].Label != "Thread 18 t of process 9" || unseen != "Of 19 threads, the 16 that launch or have most time in ranges are drawn." {
		t.Errorf("of many threads: %v, %d, %s", err, len(d.Threads), unseen)
	}
	var processes []string
	for _, r := range tl.Ranges.Rows { // those with most time are of the last processes
		r[1] = r[2].(int64) / 2
	}
	if _, err = threadsOf(d, tl); err != nil {
		t.Fatal(err)
	}
	for _, x := range d.Threads[:5] {
		processes = append(processes, x.Label)
	}
	if want := []string{"Thread 3 t of process 1", "Thread 5 t of process 2", "Thread 4 t of process 2", "Thread 7 t of process 3", "Thread 6 t of process 3"}; !slices.Equal(processes, want) {
		t.Errorf("threads of processes are %q, not %q", processes, want)
	}
	for _, r := range tl.Ranges.Rows { // ranks of which the last began first
		r[len(r)-1] = 20 - r[1].(int64)
	}
	tl.Ranges.Rows[3][3] = "thread 3 (python3)"
	if d, err = laid(tl); err == nil {
		_, err = threadsOf(d, tl)
	}
	if err != nil || d.Threads[0].Label != "Thread 18 t of rank 11" || d.Threads[15].Label != "Thread 3 (python3) of rank 19" {
		t.Errorf("threads of ranks: %v, %q, %q", err, d.Threads[0].Label, d.Threads[15].Label)
	}
}

// TestTimelineGapLinks holds that each gap of the table leads to its place, in the middle of the view.
func TestTimelineGapLinks(t *testing.T) {
	f, err := NewTimeline(rendertest.ReportTimeline(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Gaps.Rows[0][0].Jump; got != "#timeline=700,1900" {
		t.Errorf("it leads to %s", got)
	}
}

// TestTimelineData holds where the script finds what: each start counts from the one before it.
func TestTimelineData(t *testing.T) {
	d, err := laid(rendertest.ReportTimeline())
	if err != nil {
		t.Fatal(err)
	}
	var got []byte
	d.Rows[0].Stages[0].Name = "s"
	if got, err = json.Marshal(d.Rows); err != nil {
		t.Fatal(err)
	}
	want := `[{"label":"GPU 0","zero":0,"stages":[{"name":"s","items":[[1000,1000,2,1,590,300,1000,1]]}],` +
		`"lanes":[{"name":"kernel","items":[[1000,100,90,3,0,40],[500,500,500,1,1,500]]},{"name":"copy","items":[[990,10,10,1,2,10]]}],"gaps":[[1100,400,3,0,1,4]],` +
		`"known":[[1000,1100]],"streams":[{"name":"stream 7","items":"w+BwCAA8BCUoBE","stages":[0,1,-1,1,0,1]}]},` +
		`{"label":"GPU 1","zero":0,"stages":[],"lanes":[{"name":"kernel","items":[[1200,100,100,1,1,100]]}],"gaps":[],"known":[],"streams":[]}]`
	if string(got) != want || d.Part != 102 {
		t.Errorf("a part is %d, the rows are\n%s\nwant\n%s", d.Part, got, want)
	}
	two := rendertest.ReportTimeline() // the second GPU is of a rank whose clock is 150 ns ahead
	two.Blocks.Rows[3][8] = int64(2)
	two.Clocks = rendertest.FrameOf("clock-offsets", "source_id reference_id offset_ns basis drift_ratio", []any{int64(1), int64(1), int64(0), "reference", nil}, []any{int64(2), int64(1), int64(-150), "collectives", nil})
	if d, err := laid(two); err != nil || d.Rows[1].Label != "GPU 1, source 2" || d.Rows[1].Lanes[0].Items[0][0] != 1050 {
		t.Errorf("by one clock: %v, %+v", err, d.Rows[1])
	}
	two.Clocks.Rows[1][3], two.Clocks.Rows[1][2], two.Clocks.Rows[1][4] = "bounds", int64(-25), -0.1 // of another machine: -125 in the middle of 1200 to 1300
	if d, err := laid(two); err != nil || d.Rows[1].Label != "GPU 1, source 2" || d.Rows[1].Lanes[0].Items[0][0] != 1050 {
		t.Errorf("by the clocks of two machines: %v, %+v", err, d.Rows[1].Lanes[0])
	}
	two.Clocks.Rows[1][3] = "session"
	if d, err := laid(two); err != nil || d.Rows[1].Label != "GPU 1, source 2 by its own clock" || d.Rows[1].Lanes[0].Items[0][0] != 1200 {
		t.Errorf("by clocks of their own: %v, %+v", err, d.Rows[1])
	}
	lacking := rendertest.ReportTimeline()
	lacking.Passes.Columns[1].Name = "step"
	if _, err := laid(lacking); err == nil || err.Error() != "query timeline-passes: no column stage" {
		t.Errorf("a missing column: %v", err)
	}
}
