package compare

import (
	"cmp"
	"strings"

	"prof/queries/judge/trend"
	"prof/render/chart"
	"prof/render/picture"
	"prof/render/typeset"
	"prof/render/words"
)

// TrendPicture draws the plots of a trend as a picture that stands alone; nil where no series has two known points.
func TrendPicture(r *trend.Result, o TrendOptions) (*picture.Picture, error) {
	s := picture.NewSheet("Trend of " + typeset.Shorten(typeset.Neutral(cmp.Or(o.Command, r.Workload)), typeset.LongName, 60) + ", " + string(r.Options.Metric))
	drawn := 0
	for i := range r.Series {
		f := newTrendFigure(r, i)
		if f == nil {
			continue
		}
		drawn++
		v := newTrendStageView(r, i)
		s.Head(v.Label)
		state := "latest level " + v.Now + ", " + v.State
		if v.Same != "" {
			state += " (" + v.Same + ")"
		}
		s.Note(state)
		if err := f.picture(s); err != nil {
			return nil, err
		}
		if v.UnknownText != "" {
			s.Note(v.UnknownText)
		}
	}
	if drawn == 0 {
		return nil, nil
	}
	if len(r.Changes) > 0 {
		s.Head("Changes of level")
		for i, c := range r.Changes {
			s.Note(typeset.Int(int64(i+1)) + ". " + words.ChangeHeadline(r, c))
		}
	}
	s.Room(6)
	s.Note("Each point is a run, oldest left, all equally far apart. Lines across are medians of levels, dashed ones changes of level. Thin lines through points are one standard deviation of a run's passes up and down.")
	return s.Picture, nil
}

// picture draws the plot.
func (f *trendFigure) picture(s *picture.Sheet) error {
	const left, right = 74, 16
	l := &chart.Lengths{Left: picture.Margin + left, Width: picture.Inner - left - right}
	l.Top = s.Room(trendTop+float64(f.Height)+26) + trendTop
	for _, t := range f.YTicks {
		s.Line(l.Left, l.Y(t.At), l.Left+l.Width, l.Y(t.At), picture.Style{Stroke: picture.Line}, "")
		s.Words(l.Left-6, l.Y(t.At)+4, t.Text, picture.EndLabel)
	}
	for _, t := range f.XTicks {
		text := picture.SoftLabel
		text.Anchor = t.Anchor
		s.Words(l.X(t.At), l.Top+float64(f.Below), t.Text, text)
	}
	for _, m := range f.Marks {
		text := picture.Text{Size: 12, Fill: picture.Soft, Bold: !strings.Contains(m.Class, "faint"), Anchor: m.Anchor, Halo: picture.Paper}
		switch {
		case strings.HasPrefix(m.Class, "better"):
			text.Fill = chart.InkOf("good")
		case strings.HasPrefix(m.Class, "worse"):
			text.Fill = chart.InkOf("bad")
		}
		away := 4.0
		if m.Anchor == "end" {
			away = -4
		}
		s.Line(l.X(m.X), l.Top+float64(m.LabelY), l.X(m.X), l.Top+float64(f.Height), picture.Style{Stroke: text.Fill, Width: 1.5, Dash: 4}, "")
		s.Words(l.X(m.X)+away, l.Top+float64(m.LabelY)+9, m.Text, text)
	}
	for _, p := range f.Spreads {
		s.Line(l.X(p.X), l.Y(p.From), l.X(p.X), l.Y(p.To), picture.Style{Stroke: chart.InkOf("series-0"), Opacity: .45}, "")
	}
	for _, v := range f.Levels {
		s.Line(l.X(v.X1), l.Y(v.Y), l.X(v.X2), l.Y(v.Y), picture.Style{Stroke: picture.Ink, Width: 1.5}, v.Title)
	}
	for _, p := range f.Points {
		s.Circle(l.X(p.X), l.Y(p.Y), 3.5, picture.Style{Fill: chart.InkOf("series-0"), Stroke: picture.Paper, Width: .75}, p.Title)
	}
	return l.Err
}
