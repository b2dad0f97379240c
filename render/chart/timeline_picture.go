package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/picture"
	"prof/render/typeset"
	"prof/schema/terms"
)

// Window is a part of a timeline, in ns from the start of the capture, as queries count.
type Window struct{ From, To int64 }

// The measures of timelines that stand alone, in pixels: the names at the left, a line, and the least width of a piece that is drawn by itself.
const (
	laneNames  = 132
	laneHeight = 18
	workHeight = 36 // of lines whose height means something
	laneGap    = 4
	leastPiece = 1.2
	tones      = 8
)

// TimelinePicture draws what GPUs did over time: passes of stages, work, and the causes of the longest idle gaps. Where the window lies within a stretch of which
// single kernels are known, they are drawn by stream; elsewhere work by kind. pick chooses the window; nil where there is no work.
func TimelinePicture(t *judge.Timeline, pick func(whole Window, stages []StageWindow) (Window, error), title string) (*picture.Picture, error) {
	if t == nil || len(t.Blocks.Rows) == 0 {
		return nil, nil
	}
	rows, err := readTimeline(t)
	if err != nil {
		return nil, err
	}
	cutWindows(rows.windows, rows.works)
	d, err := layTimeline(rows)
	if err != nil {
		return nil, err
	}
	stages := d.stageWindows(rows)
	w, err := pick(Window{d.From, d.Until}, stages)
	if err != nil {
		return nil, err
	}
	p := &timelinePicture{Sheet: picture.NewSheet(title), d: d, w: w, width: picture.Inner - laneNames, causes: map[string]bool{}, lanes: map[string]bool{}, kernels: map[int64]int64{}}
	moment := moments(float64(w.To), float64(w.To-w.From)/10)
	said := fmt.Sprintf("Window %s to %s (%s)", moment(float64(w.From)), moment(float64(w.To)), typeset.Duration(w.To-w.From))
	if p.w == (Window{d.From, d.Until}) {
		said = fmt.Sprintf("From the first GPU work to the end of the last (%s)", typeset.Duration(d.span()))
	}
	p.Note(said + "; times count from the start of the capture")
	if at := slices.IndexFunc(stages, func(s StageWindow) bool { return s.Window == w && s.Cut != "" }); at >= 0 {
		p.Note(fmt.Sprintf("%s pass %d: %s", stages[at].Stage, stages[at].Pass, stages[at].Cut))
	}
	p.choose()
	for _, row := range d.Rows {
		p.row(row)
	}
	p.legend(len(rows.gaps))
	return p.Picture, nil
}

// StageWindow is a pass of a stage that stands for it.
type StageWindow struct {
	Stage string
	Pass  int64
	Window
	Cut string // how much of the pass the window has, where it has not all
}

// cutWindows ends the windows of which not all work is known at the start of the last work that is: what starts later may be missing.
func cutWindows(windows []windowRow, works []workRow) {
	last, before := map[int64]int64{}, map[int64]int64{}
	for _, w := range works {
		last[w.Window] = max(last[w.Window], w.StartNs)
	}
	for _, w := range works {
		if w.StartNs < last[w.Window] {
			before[w.Window]++
		}
	}
	for i, w := range windows {
		if end, known := last[w.Window]; known && w.ShownCount < w.WorkCount && end > w.StartNs {
			windows[i].EndNs, windows[i].ShownCount = end, before[w.Window]
		}
	}
}

// nearlyAll is how much of a pass on the first GPU is shown at least where its ends are left out, at which not every GPU works in it.
const nearlyAll = 0.9

// stageWindows returns the passes whose single kernels are known; of captures of which all are known the median of the measured passes. Each stage has one, that of
// the first GPU, but for its ends at which other GPUs are not in that pass: what they do there is not known.
func (d *TimelineData) stageWindows(rows timelineRows) []StageWindow {
	passes := slices.DeleteFunc(slices.Clone(rows.passes), func(r passRow) bool { return r.IsWarmup })
	slices.SortStableFunc(passes, func(a, b passRow) int {
		return cmp.Compare(a.EndNs-a.StartNs, b.EndNs-b.StartNs)
	})
	var out []StageWindow
	add := func(source int64, name string, pass, from, to int64, cut string) {
		stage := typeset.Neutral(name)
		if name == "" || slices.ContainsFunc(out, func(s StageWindow) bool { return s.Stage == stage }) {
			return
		}
		start := d.start(source, from)
		out = append(out, StageWindow{stage, pass, Window{start, start + to - from}, cut})
	}
	for _, w := range rows.windows {
		from, to := w.StartNs, w.EndNs
		for _, x := range rows.windows {
			if x.SourceID == w.SourceID && x.Stage == w.Stage && frame.Or(x.Pass, 0) == frame.Or(w.Pass, 0) {
				from, to = max(from, x.StartNs), min(to, x.EndNs)
			}
		}
		if float64(to-from) < nearlyAll*float64(w.EndNs-w.StartNs) {
			from, to = w.StartNs, w.EndNs
		}
		add(w.SourceID, w.Stage, frame.Or(w.Pass, 0), from, to, cutOf(w, passes))
	}
	for _, group := range groupRows(passes, func(r passRow) string { return r.Stage }) {
		p := group[(len(group)-1)/2]
		add(p.SourceID, p.Stage, p.Pass, p.StartNs, p.EndNs, "")
	}
	return out
}

// cutOf returns how much of its pass a window has, "" for all.
func cutOf(w windowRow, passes []passRow) string {
	if w.ShownCount >= w.WorkCount {
		return ""
	}
	text := fmt.Sprintf("the first %s of %s kernels, copies and graph replays", typeset.Int(w.ShownCount), typeset.Int(w.WorkCount))
	for _, p := range passes {
		if p.place == w.place && p.Stage == w.Stage && p.Pass == frame.Or(w.Pass, 0) && p.StartNs == w.StartNs && p.Passes == 1 {
			text += fmt.Sprintf(", %s of %s", typeset.Duration(w.EndNs-w.StartNs), typeset.Duration(p.EndNs-p.StartNs))
		}
	}
	return text
}

type timelinePicture struct {
	*picture.Sheet
	d       *TimelineData
	w       Window
	width   float64
	causes  map[string]bool // of gaps drawn
	lanes   map[string]bool // kinds of work drawn
	warm    bool
	kernels map[int64]int64 // by place of the name: tone
	named   []picture.Key   // those that take most time
	partly  bool            // of some GPUs only work by kind is known
}

// x is where a moment lies.
func (p *timelinePicture) x(at int64) float64 {
	at = max(p.w.From, min(p.w.To, at))
	return picture.Margin + laneNames + float64(at-p.w.From)/float64(p.w.To-p.w.From)*p.width
}

// isKnown reports whether the single pieces of all work that a GPU has in the window are known.
func (p *timelinePicture) isKnown(row *timelineRow) bool {
	from, to := p.w.To, p.w.From
	for _, lane := range row.Lanes {
		lane.starts(func(start int64, item []int64) {
			if start < p.w.To && start+item[1] > p.w.From {
				from, to = min(from, max(start, p.w.From)), max(to, min(start+item[1], p.w.To))
			}
		})
	}
	return from > to || slices.ContainsFunc(row.Known, func(k [2]int64) bool { return k[0] <= from && k[1] >= to })
}

// choose finds the kernels and collectives that take most time in the window, of the GPUs whose single kernels are drawn, and gives tones to the kernels.
func (p *timelinePicture) choose() {
	sums := map[int64]int64{} // by place in works
	for _, row := range p.d.Rows {
		if !p.isKnown(row) {
			p.partly = true
			continue
		}
		for _, s := range row.Streams {
			for _, piece := range s.pieces {
				if lane := p.d.Names[p.d.Works[piece.work][1]]; lane == "kernel" || lane == "collective" {
					sums[piece.work] += max(0, min(piece.start+piece.length, p.w.To)-max(piece.start, p.w.From))
				}
			}
		}
	}
	var order []int64
	for work, ns := range sums {
		if ns > 0 {
			order = append(order, work)
		}
	}
	slices.SortFunc(order, func(a, b int64) int {
		return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(p.d.Names[p.d.Works[a][0]], p.d.Names[p.d.Works[b][0]]))
	})
	order, _ = typeset.FirstOf(order, tones-1) // the last tone is that of all others
	var names []string
	for _, work := range order {
		names = append(names, p.d.Names[p.d.Works[work][0]])
	}
	short := typeset.Kernels(names, WideName)
	for i, work := range order {
		if p.d.Names[p.d.Works[work][1]] == "kernel" {
			p.kernels[p.d.Works[work][0]] = int64(len(p.kernels))
		}
		class, _ := p.tone(work)
		p.named = append(p.named, picture.Key{Text: typeset.Duration(sums[work]) + "  " + short(names[i]), Draw: p.Swatch(InkOf(class), 0)})
	}
}

// lane begins a line with its name, and gives its top.
func (p *timelinePicture) lane(name string, height float64) float64 {
	y := p.Room(height + laneGap)
	p.Words(picture.Margin+laneNames-8, y+height/2+4, picture.Fit(name, laneNames-8, picture.EndLabel), picture.EndLabel)
	p.Rect(picture.Margin+laneNames, y, p.width, height, picture.Style{Fill: picture.Tint}, "")
	return y
}

// row draws a GPU.
func (p *timelinePicture) row(row *timelineRow) {
	p.Head(row.Label)
	begin := p.Height
	for _, stage := range row.Stages {
		p.stage(stage, InkOf(stageClass(stage.Name)))
	}
	above := p.Height
	if p.isKnown(row) {
		for _, s := range row.Streams {
			p.stream(s)
		}
	} else {
		for _, lane := range row.Lanes {
			p.blocks(lane)
		}
	}
	isEmpty := p.Height == begin
	if p.Height == above {
		p.Note("No work in the window")
	}
	above = p.Height
	p.gaps(row)
	if isEmpty && p.Height == above {
		return
	}
	y := p.Room(22)
	for _, t := range clockTicks(float64(p.w.From), float64(p.w.To)) {
		l := Lengths{Left: picture.Margin + laneNames, Width: p.width}
		p.Line(l.X(t.At), y, l.X(t.At), y+4, picture.Style{Stroke: picture.Soft}, "")
		p.Words(min(l.X(t.At), picture.SheetWidth-4-picture.Long(t.Text, picture.TickLabel)/2), y+16, t.Text, picture.TickLabel)
	}
}

// starts gives each item of a line with the time at which it starts.
func (l *timelineRun) starts(with func(start int64, item []int64)) {
	at := int64(0)
	for _, item := range l.Items {
		at += item[0]
		with(at, item)
	}
}

// stage draws the passes of a stage that lie in the window.
func (p *timelinePicture) stage(stage *timelineRun, ink string) {
	y := -1.0
	stage.starts(func(start int64, item []int64) {
		if start >= p.w.To || start+item[1] <= p.w.From {
			return
		}
		if y < 0 {
			y = p.lane(stage.Name, laneHeight)
		}
		style := picture.Style{Fill: ink, Stroke: picture.Paper, Width: .6}
		if item[7] == 1 {
			style.Opacity, p.warm = .45, true
		}
		from, to := p.x(start), p.x(start+item[1])
		name := fmt.Sprintf("pass %d", item[3])
		if item[2] > 1 {
			name = fmt.Sprintf("passes %d to %d", item[3], item[3]+item[2]-1)
		}
		said := fmt.Sprintf("%s, %s: %s", stage.Name, name, typeset.Duration(item[1]))
		if inside := min(start+item[1], p.w.To) - max(start, p.w.From); inside < item[1] {
			said += fmt.Sprintf(", %s of it in the window", typeset.Duration(inside))
		}
		p.Rect(from, y, max(to-from, .6), laneHeight, style, said)
		words := picture.Text{Size: 11, Fill: picture.Paper}
		p.Words(from+4, y+13, picture.Fit(name, to-from-8, words), words)
	})
}

// blocks draws the work of a kind, as high as the share of time in which it ran.
func (p *timelinePicture) blocks(lane *timelineRun) {
	c := newCover(int(p.width), p.w.From, p.w.To)
	lane.starts(func(start int64, item []int64) { c.add("part-"+lane.Name, start, item[1], item[2]) })
	if p.cover(c, lane.Name) >= 0 {
		p.lanes[lane.Name] = true
	}
}

// cover draws columns as a line of that name, and gives its top; below 0 where nothing is in the window.
func (p *timelinePicture) cover(c *cover, name string) float64 {
	steps := c.steps(workHeight)
	if len(steps) == 0 {
		return -1
	}
	y := p.lane(name, workHeight)
	shapes := map[string][][]picture.Point{}
	for _, s := range steps {
		left, right, bottom, top := picture.Margin+laneNames+float64(s.from), picture.Margin+laneNames+float64(s.to), y+workHeight-float64(s.low), y+workHeight-float64(s.high)
		shapes[s.class] = append(shapes[s.class], []picture.Point{{X: left, Y: top}, {X: right, Y: top}, {X: right, Y: bottom}, {X: left, Y: bottom}, {X: left, Y: top}})
	}
	for _, class := range c.classes {
		p.Shapes(shapes[class], picture.Style{Fill: InkOf(class)}, "")
	}
	return y
}

// stream draws the pieces of work of a stream: those too short to be seen alone as columns.
func (p *timelinePicture) stream(s *timelineStream) {
	c := newCover(int(p.width), p.w.From, p.w.To)
	var alone []timelinePiece
	for _, piece := range s.pieces {
		if piece.start >= p.w.To || piece.start+piece.length <= p.w.From {
			continue
		}
		if p.x(piece.start+piece.length)-p.x(piece.start) >= leastPiece {
			alone = append(alone, piece)
			continue
		}
		class, lane := p.tone(piece.work)
		c.add(class, piece.start, piece.length, piece.length)
		p.lanes[lane] = true
	}
	y := p.cover(c, s.Name)
	if y < 0 && len(alone) > 0 {
		y = p.lane(s.Name, workHeight)
	}
	for _, piece := range alone {
		class, lane := p.tone(piece.work)
		p.lanes[lane] = true
		name := p.d.Names[p.d.Works[piece.work][0]]
		from, to := p.x(piece.start), p.x(piece.start+piece.length)
		p.Rect(from, y, to-from, workHeight, picture.Style{Fill: InkOf(class), Stroke: picture.Paper, Width: .4}, fmt.Sprintf("%s: %s", name, typeset.Duration(piece.length)))
		words := picture.Text{Size: 11, Fill: cmp.Or(inks["on-"+class], picture.Ink)}
		p.Words(from+3, y+workHeight/2+4, picture.Fit(typeset.Kernels(nil, typeset.LongName)(name), to-from-6, words), words)
	}
}

// tone is the class that a kind of work is drawn in, and what the legend calls it.
func (p *timelinePicture) tone(work int64) (class, lane string) {
	w := p.d.Works[work]
	lane = p.d.Names[w[1]]
	if lane != "kernel" {
		return "part-" + lane, lane
	}
	if at, known := p.kernels[w[0]]; known {
		return fmt.Sprintf("kernel-%d", at), "named"
	}
	return fmt.Sprintf("kernel-%d", tones-1), "other kernels"
}

// gaps draws the idle gaps by their causes.
func (p *timelinePicture) gaps(row *timelineRow) {
	y := -1.0
	for _, g := range row.Gaps {
		if g[0] >= p.w.To || g[0]+g[1] <= p.w.From {
			continue
		}
		if y < 0 {
			y = p.lane("longest idle gaps", laneHeight)
		}
		cause := p.d.Names[g[2]]
		p.causes[cause] = true
		p.Rect(p.x(g[0]), y, max(p.x(g[0]+g[1])-p.x(g[0]), .6), laneHeight, picture.Style{Fill: InkOf("part-" + cause)}, fmt.Sprintf("%s: %s", cause, typeset.Duration(g[1])))
	}
}

// legend says what the colours mean; gaps is how many there are in all.
func (p *timelinePicture) legend(gaps int) {
	p.Room(6)
	var keys []picture.Key
	for _, k := range []struct{ lane, class, text string }{{"kernel", "part-kernel", "kernels"}, {"collective", "part-collective", "collectives"}, {"graph", "part-graph", "graph replays"}, {"copy", "part-copy", "copies and fills"}, {"other kernels", "kernel-7", "other kernels"}} {
		if p.lanes[k.lane] {
			keys = append(keys, picture.Key{Text: k.text, Draw: p.Swatch(InkOf(k.class), 0)})
		}
	}
	if p.warm {
		keys = append(keys, picture.Key{Text: "pale: passes of warm-up", Draw: p.Swatch(InkOf("stage-0"), .45)})
	}
	for _, part := range terms.Parts {
		if p.causes[part.Name] {
			keys = append(keys, picture.Key{Text: part.Text(), Draw: p.Swatch(InkOf("part-"+part.Name), 0)})
		}
	}
	p.Keys(0, keys...)
	if len(p.named) > 0 {
		head := "Kernels that take most time in the window"
		if p.partly {
			head += ", of the GPUs drawn kernel by kernel"
		}
		p.Head(head)
		p.Keys(picture.Inner/2, p.named...)
	}
	p.Room(6)
	note := ""
	if len(p.lanes) > 0 {
		note = fmt.Sprintf("Height is the share of the time in which the work ran, by columns of %s. ", typeset.Nanoseconds(float64(p.w.To-p.w.From)/p.width))
	}
	if len(p.causes) > 0 {
		note += fmt.Sprintf("Idle gaps are the %d longest of the run.", gaps)
	}
	p.Note(strings.TrimSpace(note))
}
