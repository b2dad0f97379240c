package chart

import (
	"fmt"
	"slices"

	"prof/queries/frame"
	"prof/render/typeset"
)

// roof is one row of ceilings: what a device can do at most, in operations or in bytes of DRAM a second.
type roof struct {
	resource, basis string
	rate            float64
}

const (
	dram     = "dram"
	measured = "measured"
)

// roofsOf reads the ceilings by device; of no frame there are none.
func roofsOf(f *frame.Frame) (map[string][]roof, error) {
	out := map[string][]roof{}
	if f == nil || len(f.Rows) == 0 {
		return out, nil
	}
	rows, err := ceilingRows.Of(f)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		peak := r.PeakFlopPerS
		if r.Resource == dram {
			peak = r.PeakBytesPerS
		}
		if rate, known := frame.Finite(peak); known && rate > 0 {
			out[r.Device] = append(out[r.Device], roof{typeset.Neutral(r.Resource), r.Basis, rate})
		}
	}
	return out, nil
}

// bandwidth is that of DRAM, measured where it is; 0 when not known.
func bandwidth(roofs []roof) float64 {
	rate := 0.0
	for _, r := range roofs {
		if r.resource == dram && (rate == 0 || r.basis == measured) {
			rate = r.rate
		}
	}
	return rate
}

// leading reports whether a ceiling is the one to go by: what was measured, or the table where nothing was.
func leading(r roof, roofs []roof) bool {
	return r.basis == measured || !slices.ContainsFunc(roofs, func(o roof) bool { return o.resource == r.resource && o.basis == measured })
}

// source returns what a ceiling is from.
func (r roof) source() string {
	if r.basis == measured {
		return "measured"
	}
	return "table of dense peaks"
}

// lay finds the axes and places everything on them.
func (p *rooflinePlot) lay(roofs []roof, resources []string) {
	bytes := bandwidth(roofs)
	var intensities, rates []float64
	for _, d := range p.Dots {
		intensities, rates = append(intensities, d.intensity), append(rates, d.rate)
	}
	for _, r := range roofs {
		if r.resource == dram {
			continue
		}
		rates = append(rates, r.rate*1.2) // room for a label above the highest
		if bytes > 0 && slices.Contains(resources, r.resource) {
			intensities = append(intensities, r.rate/bytes*2)
		}
	}
	x, y := decades(intensities...), decades(rates...)
	down := func(rate float64) float64 { return rooflineHeight * (1 - y.at(rate)) }
	for _, v := range x.steps(7) {
		p.XTicks = append(p.XTicks, Tick{Length(x.at(v)), typeset.Amount(frame.None, v)})
	}
	for _, v := range y.steps(8) {
		p.YTicks = append(p.YTicks, Tick{Pixels(down(v)), prefixed(v)})
	}
	for _, r := range roofs {
		p.draw(r, bytes, x, y, slices.Index(resources, r.resource), leading(r, roofs))
	}
	p.labelRoofs(roofs, resources, x, y)
	for i := range p.Dots {
		d := &p.Dots[i]
		d.X, d.Y = Length(x.at(d.intensity)), Pixels(down(d.rate))
	}
	placeNumbers(p.Dots, x, down)
	for _, d := range p.Dots {
		if d.Number != "" {
			p.Points = append(p.Points, d)
		}
	}
	p.Spoken = fmt.Sprintf("Roofline of %s: %s, from %s to %s FLOP per byte and from %s to %s", p.Device, typeset.Plural(int64(len(p.Dots)), "launch", "launches"),
		typeset.ThreeDigits(slices.Min(intensitiesOf(p.Dots))), typeset.ThreeDigits(slices.Max(intensitiesOf(p.Dots))), typeset.Amount(frame.FlopPerSec, slices.Min(ratesOf(p.Dots))), typeset.Amount(frame.FlopPerSec, slices.Max(ratesOf(p.Dots))))
}

func intensitiesOf(dots []roofDot) (out []float64) {
	for _, d := range dots {
		out = append(out, d.intensity)
	}
	return out
}

func ratesOf(dots []roofDot) (out []float64) {
	for _, d := range dots {
		out = append(out, d.rate)
	}
	return out
}

// draw adds the line of a roof: of DRAM the diagonal up to the highest rate of the picture, of a precision the level from where the
// bandwidth allows it. color is the place of its colour; below 0 for precisions without a launch. The ridge is marked of leading ones.
func (p *rooflinePlot) draw(r roof, bytes float64, x, y logAxis, color int, leads bool) {
	class := "roof"
	if color >= 0 {
		class += " own " + seriesClass(color)
	}
	if r.basis != measured {
		class += " table"
	}
	down := func(rate float64) string { return Pixels(rooflineHeight * (1 - y.at(rate))) }
	if r.resource == dram {
		from, to := max(x.from, y.from/r.rate), min(x.to, y.to/r.rate)
		if from < to {
			title := fmt.Sprintf("DRAM bandwidth: %s (%s)", typeset.Amount(frame.BytesPerSec, r.rate), r.source())
			p.Lines = append(p.Lines, roofLine{class + " dram", Length(x.at(from)), down(from * r.rate), Length(x.at(to)), down(to * r.rate), title})
		}
		return
	}
	from := x.from
	title := fmt.Sprintf("%s: %s (%s)", r.resource, typeset.Amount(frame.FlopPerSec, r.rate), r.source())
	if bytes > 0 {
		ridge := r.rate / bytes
		title += fmt.Sprintf(", ridge at %s FLOP/byte", typeset.ThreeDigits(ridge))
		from = min(max(ridge, x.from), x.to)
		if color >= 0 && leads && ridge > x.from && ridge < x.to {
			p.Ridges = append(p.Ridges, roofRidge{seriesClass(color), Length(x.at(ridge)), down(r.rate), title})
		}
	}
	p.Lines = append(p.Lines, roofLine{class, Length(x.at(from)), down(r.rate), Length(1), down(r.rate), title})
}
