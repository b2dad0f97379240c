package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"prof/queries"
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
func roofsOf(f *queries.Frame) (map[string][]roof, error) {
	out := map[string][]roof{}
	if f == nil || len(f.Rows) == 0 {
		return out, nil
	}
	rows, err := recordsOf(f, "device", "resource", "basis", "peak_flop_per_s", "peak_bytes_per_s")
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		column := "peak_flop_per_s"
		if r.text("resource") == dram {
			column = "peak_bytes_per_s"
		}
		if rate, known := r.float(column); known && rate > 0 {
			out[r.text("device")] = append(out[r.text("device")], roof{neutral(r.text("resource")), r.text("basis"), rate})
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

// leading says whether a ceiling is the one to go by: what was measured, or the table where nothing was.
func leading(r roof, roofs []roof) bool {
	return r.basis == measured || !slices.ContainsFunc(roofs, func(o roof) bool { return o.resource == r.resource && o.basis == measured })
}

// source says what a ceiling is from.
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
		p.XTicks = append(p.XTicks, tick{length(x.at(v)), amount(queries.None, v)})
	}
	for _, v := range y.steps(8) {
		p.YTicks = append(p.YTicks, tick{pixels(down(v)), prefixed(v)})
	}
	for _, r := range roofs {
		p.draw(r, bytes, x, y, slices.Index(resources, r.resource), leading(r, roofs))
	}
	p.labelRoofs(roofs, resources, x, y)
	for i := range p.Dots {
		d := &p.Dots[i]
		d.X, d.Y = length(x.at(d.intensity)), pixels(down(d.rate))
	}
	placeNumbers(p.Dots, x, down)
	for _, d := range p.Dots {
		if d.Number != "" {
			p.Points = append(p.Points, d)
		}
	}
	p.Spoken = fmt.Sprintf("Roofline of %s: %s, from %s to %s FLOP per byte and from %s to %s", p.Device, numberOf(int64(len(p.Dots)), "launch", "launches"),
		threeDigits(slices.Min(intensitiesOf(p.Dots))), threeDigits(slices.Max(intensitiesOf(p.Dots))), amount(queries.FlopPerSec, slices.Min(ratesOf(p.Dots))), amount(queries.FlopPerSec, slices.Max(ratesOf(p.Dots))))
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
	down := func(rate float64) string { return pixels(rooflineHeight * (1 - y.at(rate))) }
	if r.resource == dram {
		from, to := max(x.from, y.from/r.rate), min(x.to, y.to/r.rate)
		if from < to {
			title := fmt.Sprintf("DRAM bandwidth: %s (%s)", amount(queries.BytesPerSec, r.rate), r.source())
			p.Lines = append(p.Lines, roofLine{class + " dram", length(x.at(from)), down(from * r.rate), length(x.at(to)), down(to * r.rate), title})
		}
		return
	}
	from := x.from
	title := fmt.Sprintf("%s: %s (%s)", r.resource, amount(queries.FlopPerSec, r.rate), r.source())
	if bytes > 0 {
		ridge := r.rate / bytes
		title += fmt.Sprintf(", ridge at %s FLOP/byte", threeDigits(ridge))
		from = min(max(ridge, x.from), x.to)
		if color >= 0 && leads && ridge > x.from && ridge < x.to {
			p.Ridges = append(p.Ridges, roofRidge{seriesClass(color), length(x.at(ridge)), down(r.rate), title})
		}
	}
	p.Lines = append(p.Lines, roofLine{class, length(x.at(from)), down(r.rate), length(1), down(r.rate), title})
}

// labelRoofs names the levels, those that are the same together: left of where they meet the bandwidth, since no launch lies above it, and
// at their right end where a phone has no room there. The diagonal is named below its start.
func (p *rooflinePlot) labelRoofs(roofs []roof, resources []string, x, y logAxis) {
	const same, apart = 1.015, 12.0 // ratio of levels that are one; pixels from one label to the next
	levels := slices.DeleteFunc(slices.Clone(roofs), func(r roof) bool { return r.resource == dram || !leading(r, roofs) })
	slices.SortStableFunc(levels, func(x, y roof) int { return cmp.Compare(x.rate, y.rate) })
	bytes, last := bandwidth(roofs), math.Inf(1)
	for i := 0; i < len(levels); {
		var names []string
		class, lowest := "soft", levels[i].rate
		for ; i < len(levels) && levels[i].rate <= lowest*same; i++ {
			names = append(names, levels[i].resource)
			if slices.Contains(resources, levels[i].resource) {
				class = "own"
			}
		}
		last = min(rooflineHeight*(1-y.at(lowest))-2, last-apart)
		label := roofLabel{class, length(1), pixels(last - 3), "end", strings.Join(names, ", ") + " " + amount(queries.FlopPerSec, lowest)}
		if bytes > 0 {
			if end := min(x.at(lowest/bytes)-0.015, 1); end*narrowRoofline > float64(width(label.Text))*roofLetter {
				label.X, label.Y = length(end), pixels(last)
			}
		}
		p.Labels = append(p.Labels, label)
	}
	if bytes > 0 {
		start := max(x.at(y.from/bytes), 0) + 0.06
		height := y.at(bytes * x.from * math.Pow(x.to/x.from, start))
		p.Labels = append(p.Labels, roofLabel{"own", length(start + 0.03), pixels(rooflineHeight*(1-height) + 8), "start", "DRAM " + amount(queries.BytesPerSec, bytes)})
	}
}

// The width of the picture on a phone, and of a letter in it, in pixels.
const (
	narrowRoofline = 280.0
	roofLetter     = 6.4
)

// prefixed shows a rate on an axis by its prefix only: 100 G is 1e11.
func prefixed(v float64) string {
	prefixes := []string{"", " k", " M", " G", " T", " P", " E"}
	at := 0
	for at < len(prefixes)-1 && v >= 999.5 {
		v, at = v/1000, at+1
	}
	return amount(queries.None, v) + prefixes[at]
}

// placeNumbers puts the number of each dot where it covers no dot and no other number on a narrow screen, as far as there is such a place.
func placeNumbers(dots []roofDot, x logAxis, down func(float64) float64) {
	const clear = 11.0 // pixels that two marks need between them
	type spot struct{ x, y float64 }
	var taken []spot
	for _, d := range dots {
		taken = append(taken, spot{x.at(d.intensity) * narrowRoofline, down(d.rate)})
	}
	free := func(at spot) bool {
		return at.x > 4 && at.x < narrowRoofline-4 && at.y > 6 && at.y < rooflineHeight-4 &&
			!slices.ContainsFunc(taken, func(t spot) bool { return math.Abs(t.x-at.x) < clear+3 && math.Abs(t.y-at.y) < clear })
	}
	for i := range dots {
		if dots[i].Number == "" {
			continue
		}
		own := taken[i]
		best := spot{own.x, own.y - 14}
	search:
		for radius := 14.0; radius <= 62; radius += 8 {
			for turn := range 12 {
				angle := float64(turn) * math.Pi / 6
				at := spot{own.x + radius*math.Sin(angle), own.y - radius*math.Cos(angle)}
				if free(at) {
					best = at
					break search
				}
			}
		}
		taken = append(taken, best)
		dots[i].LabelX, dots[i].LabelY = pixels(best.x-own.x), pixels(best.y-own.y)
	}
}
