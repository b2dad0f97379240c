package compare

import (
	"prof/queries/judge/diff"
	"prof/render/chart"
	"prof/render/picture"
	"prof/render/typeset"
)

// DiffPicture draws what made the change of each stage as a picture that stands alone; nil where nothing changed.
func DiffPicture(list []*diff.Result) (*picture.Picture, error) {
	s := picture.NewSheet(pageTitle(list))
	drawn := 0
	for _, r := range list {
		if len(list) > 1 {
			s.Head(diffTitle(r))
		}
		s.Note(typeset.Sentence(typeset.Neutral(r.Words)))
		for _, g := range itemGroups(r) {
			if g.stage == nil {
				continue
			}
			f := newDiffFigure(*g.stage, r.Options.Metric)
			if f == nil {
				continue
			}
			drawn++
			if err := f.picture(s); err != nil {
				return nil, err
			}
		}
	}
	if drawn == 0 {
		return nil, nil
	}
	s.Room(6)
	s.Note("Left of the line a part became shorter, right of it longer.")
	return s.Picture, nil
}

// picture draws the bars of a stage, each with its name in front.
func (f *diffFigure) picture(s *picture.Sheet) error {
	s.Head(f.Label)
	const names, row = 330, 22
	l := &chart.Lengths{Left: picture.Margin + names, Width: picture.Inner - names}
	l.Top = s.Room(float64(len(f.Rows)*row) + 6)
	for i, b := range f.Rows {
		y := l.Top + float64(i*row)
		label := picture.Label
		label.Anchor = "end"
		s.Words(l.Left-10, y+14, picture.Fit(b.Long, names-10, label), label)
		ink := chart.InkOf("series-1")
		if b.Class == "less" {
			ink = chart.InkOf("series-0")
		}
		s.Rect(l.X(b.X), y+3, l.Of(b.Width), 14, picture.Style{Fill: ink}, b.Title)
		s.Words(max(l.X(b.X)+l.Of(b.Width), l.X(f.Zero))+7, y+14, b.Text, picture.Label)
	}
	s.Line(l.X(f.Zero), l.Top, l.X(f.Zero), l.Top+float64(len(f.Rows)*row), picture.Style{Stroke: picture.Ink}, "")
	s.Note(f.Caption)
	if f.LeftOut != "" {
		s.Note(f.LeftOut)
	}
	return l.Err
}
