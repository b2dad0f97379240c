package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/render/table"
	"prof/render/typeset"
)

// rooflineFigure is the picture of roofline after Williams, Waterman and Patterson (2009): the rate that a kernel reaches over its
// arithmetic intensity, both logarithmic, below what memory and arithmetic allow.
type rooflineFigure struct {
	Plots    []rooflinePlot // one a device
	Ceilings *table.View    // nil where no ceiling is known
	Query    [2]string      // behind the ceilings: name and version, SQL
}

type rooflinePlot struct {
	Device, Spoken          string
	Height, Below           int
	XTicks, YTicks          []Tick
	Lines                   []roofLine
	Labels                  []roofLabel
	Ridges                  []roofRidge
	Dots                    []roofDot
	Points                  []roofDot // those of Dots that have a number
	Resources, Stages       []roofKey // legends of colours and shapes
	Unnumbered, NotDrawable string
	Missing                 []string // what is not drawable
}

// roofLine is a bandwidth or a rate that the device can reach.
type roofLine struct{ Class, X1, Y1, X2, Y2, Title string }

type roofLabel struct{ Class, X, Y, Anchor, Text string }

// roofRidge is where a ceiling meets the bandwidth.
type roofRidge struct{ Class, X, Y, Title string }

// roofKey is an entry of a legend.
type roofKey struct{ Class, Shape, Text string }

// roofDot is one launch in one precision.
type roofDot struct {
	Class, Shape, X, Y string
	Title              string
	Number             string // "" where the picture has too many
	Near               string // the numbers of the dots at this place, at one of them
	LabelX, LabelY     string // of these, from the dot, in pixels
	Name, Short, Said  string

	intensity, rate float64 // FLOP per byte, FLOP/s
	duration        float64 // s: operations over their rate
	order           int
	number          int64 // 0 for none
}

// The measures of a roofline. Dots beyond dotsDrawn are left out.
const (
	rooflineHeight = 380
	dotsNumbered   = 24
	dotsDrawn      = 400
	dotName        = 120 // columns; those with a number have their whole name beside it
)

// shapes tell stages apart beside the colours, which are those of precisions.
var shapes = []string{"circle", "square", "diamond", "triangle"}

// SeriesCount is the number of classes series-N of the style sheet.
const SeriesCount = 8

func newRooflineFigure(f, ceilings *frame.Frame) (*rooflineFigure, error) {
	rows, err := launchRows.Of(f)
	if err != nil {
		return nil, err
	}
	roofs, err := roofsOf(ceilings)
	if err != nil {
		return nil, err
	}
	figure := &rooflineFigure{}
	for _, points := range groupRows(rows, func(r launchRow) string { return r.Device }) {
		figure.Plots = append(figure.Plots, newRooflinePlot(points, roofs[deviceOf(points[0])]))
	}
	if ceilings != nil && len(ceilings.Rows) > 0 {
		if figure.Ceilings, err = table.NewView(ceilings, "Ceilings of the devices", table.PageExcerpt, nil); err != nil {
			return nil, err
		}
		figure.Query = [2]string{fmt.Sprintf("%s v%d", ceilings.Query, ceilings.Version), typeset.Whole(ceilings.SQL)}
	}
	return figure, nil
}

// deviceOf is a row's device as ceilings calls it.
func deviceOf(r launchRow) string {
	if name := r.Device; name != "" {
		return name
	}
	return "(unknown)"
}

func newRooflinePlot(rows []launchRow, roofs []roof) rooflinePlot {
	p := rooflinePlot{Device: typeset.Neutral(deviceOf(rows[0])), Height: rooflineHeight, Below: rooflineHeight + 17}
	resources, stages := valuesOf(rows, resourceOf), valuesOf(rows, stageOf)
	var drawn []launchRow
	for i, r := range rows {
		dot := newRoofDot(r, seriesClass(slices.Index(resources, r.Resource)), shapes[slices.Index(stages, r.Stage)%len(shapes)])
		if dot.order = i; dot.intensity > 0 && dot.rate > 0 {
			p.Dots, drawn = append(p.Dots, dot), append(drawn, r)
			continue
		}
		p.Missing = append(p.Missing, dot.Title)
	}
	p.NotDrawable = notDrawable(&p.Missing)
	if len(p.Dots) == 0 {
		p.Spoken = "No launch can be drawn"
		return p
	}
	p.addLegends(drawn, resources, stages)
	p.choose()
	p.lay(roofs, resources)
	return p
}

// addLegends says what the colours of the launches drawn mean, and their shapes where there are several.
func (p *rooflinePlot) addLegends(drawn []launchRow, resources, stages []string) {
	for _, resource := range valuesOf(drawn, resourceOf) {
		p.Resources = append(p.Resources, roofKey{Class: seriesClass(slices.Index(resources, resource)), Shape: "circle", Text: typeset.Neutral(resource)})
	}
	several := valuesOf(drawn, stageOf)
	if len(several) < 2 {
		return
	}
	for _, stage := range several {
		p.Stages = append(p.Stages, roofKey{Class: "outline", Shape: shapes[slices.Index(stages, stage)%len(shapes)], Text: "of this shape: " + stageOr(stage)})
	}
}

func resourceOf(r launchRow) string { return r.Resource }
func stageOf(r launchRow) string    { return r.Stage }

// valuesOf returns the values of rows, each once, in order.
func valuesOf(rows []launchRow, of func(launchRow) string) []string {
	var out []string
	for _, r := range rows {
		out = append(out, of(r))
	}
	out = typeset.Unique(out)
	slices.Sort(out)
	return out
}

func seriesClass(i int) string { return fmt.Sprintf("series-%d", i%SeriesCount) }

func stageOr(stage string) string {
	if stage == "" {
		return "outside stages"
	}
	return typeset.Neutral(stage)
}

func newRoofDot(r launchRow, class, shape string) roofDot {
	d := roofDot{Class: class, Shape: shape, Name: typeset.Neutral(r.Kernel)}
	d.Short = typeset.Kernels(nil, typeset.LongName)(d.Name)
	said := []string{fmt.Sprintf("launch no. %d", r.Launch), stageOr(r.Stage), typeset.Neutral(r.Resource)}
	var known bool
	if d.intensity, known = frame.Finite(r.Intensity); known {
		said = append(said, typeset.ThreeDigits(d.intensity)+" FLOP/byte")
	} else {
		said = append(said, "no intensity: no DRAM traffic, or it was not measured")
	}
	if d.rate, known = frame.Finite(r.AchievedFlopPerS); known {
		said = append(said, typeset.Amount(frame.FlopPerSec, d.rate))
	} else {
		said = append(said, "no rate")
	}
	if share, known := frame.Finite(r.AttainedRatio); known {
		said = append(said, typeset.Percent(share)+" of attainable")
	}
	if side := r.Side; side != "" {
		said = append(said, typeset.Neutral(side)+" side")
	}
	if flop, _ := frame.Finite(r.Flop); d.rate > 0 {
		d.duration = flop / d.rate
	}
	d.Said = strings.Join(said, ", ")
	d.Title = typeset.Shorten(d.Name, dotName, 60) + ": " + d.Said
	return d
}

// missingNamed is how many launches that cannot be drawn are named.
const missingNamed = 20

// notDrawable returns how many launches are not drawn, and shortens their list.
func notDrawable(missing *[]string) string {
	if len(*missing) == 0 {
		return ""
	}
	text := typeset.Plural(int64(len(*missing)), "launch is", "launches are") + " not drawn (no intensity or rate)"
	var left int
	if *missing, left = typeset.FirstOf(*missing, missingNamed); left > 0 {
		text += fmt.Sprintf("; the first %d", missingNamed)
	}
	return text + ":"
}

// choose leaves the launches that took longest where there are many, and numbers the longest of these by their place in the table.
func (p *rooflinePlot) choose() {
	all := len(p.Dots)
	slices.SortStableFunc(p.Dots, func(x, y roofDot) int { return cmp.Compare(y.duration, x.duration) })
	p.Dots, _ = typeset.FirstOf(p.Dots, dotsDrawn)
	numbered := slices.Clone(p.Dots[:min(dotsNumbered, len(p.Dots))])
	slices.SortFunc(numbered, func(x, y roofDot) int { return x.order - y.order })
	for i := range p.Dots {
		if at := slices.IndexFunc(numbered, func(d roofDot) bool { return d.order == p.Dots[i].order }); at >= 0 {
			p.Dots[i].number, p.Dots[i].Number = int64(at+1), fmt.Sprint(at+1)
		}
	}
	slices.SortFunc(p.Dots, func(x, y roofDot) int { return x.order - y.order })
	if all > dotsNumbered {
		p.Unnumbered = fmt.Sprintf("Of %s the %d that took longest have a number", typeset.Plural(int64(all), "launch", "launches"), dotsNumbered)
		if all > dotsDrawn {
			p.Unnumbered += fmt.Sprintf(", and the %d that took longest are drawn", dotsDrawn)
		}
		p.Unnumbered += "; the query below gives all."
	}
}
