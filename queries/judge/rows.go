package judge

import (
	"fmt"
	"slices"
	"strings"

	"prof/queries/caveat"
	"prof/queries/frame"
)

// read returns the rows of an answer; none when it was not asked for.
func read[T any](s *summariser, rows frame.Rows[T]) ([]T, error) { return readAt(s, rows, rows.Query) }

// readAt returns those of an answer by its key.
func readAt[T any](s *summariser, rows frame.Rows[T], key string) ([]T, error) {
	list, err := rows.Of(s.answer(key))
	if err != nil {
		return nil, fmt.Errorf("summary of %s: %w", s.r.Name, err)
	}
	return list, nil
}

// answer returns an answer as the summary follows from it; nil when it was not asked for.
func (s *summariser) answer(key string) *frame.Frame {
	if f := s.r.Whole[key]; f != nil {
		return f
	}
	return s.r.Frame(key)
}

// deviceParts are the rows of accounting of one stage on one GPU.
type deviceParts struct {
	device, passes int64
	span           float64 // ns of the median pass
	sum            float64 // ns over all passes
	parts          []part
}

// part is one of the parts that exclude each other and add up to the span.
type part struct {
	name, kind string
	ns         float64 // in the median pass
	total      float64 // ns over all passes
	most       float64 // ns of the pass that has most of it
}

// of adds up the parts of these kinds in the median pass.
func (d deviceParts) of(kinds ...string) float64 {
	return d.added(kinds, func(p part) float64 { return p.ns })
}

// inAll adds them up over all passes.
func (d deviceParts) inAll(kinds ...string) float64 {
	return d.added(kinds, func(p part) float64 { return p.total })
}

func (d deviceParts) added(kinds []string, of func(part) float64) float64 {
	sum := 0.0
	for _, p := range d.parts {
		if slices.Contains(kinds, p.kind) {
			sum += of(p)
		}
	}
	return sum
}

// in returns the parts of an idle time.
func (d deviceParts) in(g idleGroup) []part {
	return slices.DeleteFunc(slices.Clone(d.parts), func(p part) bool { return !slices.Contains(g.kinds, p.kind) })
}

// named returns one part.
func (d deviceParts) named(name string) part {
	for _, p := range d.parts {
		if p.name == name {
			return p
		}
	}
	return part{name: name}
}

// otherMakers are how the names of devices begin that NVIDIA does not make.
var otherMakers = []string{"AMD ", "Intel", "MTIA ", "Gaudi ", "Ascend "}

// IsForeign reports whether a device of that name is one that tools of NVIDIA do not profile.
func IsForeign(device string) bool {
	return slices.ContainsFunc(otherMakers, func(maker string) bool { return strings.HasPrefix(device, maker) })
}

func (s *summariser) readSources() error {
	s.kinds = map[string]bool{}
	list, err := read(s, SourceRows)
	if err != nil {
		return err
	}
	for _, r := range list {
		s.kinds[r.Kind] = true
		if r.Status != "ok" {
			s.out.Doubts = append(s.out.Doubts, fmt.Sprintf("only part of %s was read: %s", r.Path, r.Reason))
		}
	}
	devices, err := read(s, DeviceRows)
	for _, r := range devices {
		s.isForeign = s.isForeign || IsForeign(r.Name)
	}
	return err
}

// readParts reads accounting, a stage's GPUs by their measured time, that with the most first.
func (s *summariser) readParts() error {
	s.parts = map[string][]deviceParts{}
	list, err := read(s, PartRows)
	for _, r := range list {
		stage, device := r.Stage, r.Device
		ns, _ := frame.Finite(r.MedianPassNs)
		span, _ := frame.Finite(r.MedianPassSpanNs)
		at := slices.IndexFunc(s.parts[stage], func(d deviceParts) bool { return d.device == device })
		if at < 0 {
			at = len(s.parts[stage])
			s.parts[stage] = append(s.parts[stage], deviceParts{device: device, passes: r.Passes, span: span, sum: r.SpanTotalNs})
		}
		d := &s.parts[stage][at]
		d.parts = append(d.parts, part{r.Part, r.Kind, ns, r.TotalNs, r.MaxNs})
	}
	for _, list := range s.parts {
		slices.SortStableFunc(list, byKey(func(d deviceParts) float64 { return -d.sum }))
	}
	return err
}

// readUtilisation reads mfu.
func (s *summariser) readUtilisation() error {
	s.use = map[string]utilisation{}
	list, err := read(s, UseRows)
	uncounted := map[string][]string{}
	for _, r := range list {
		if of := r.PartOf; of != "" && r.MFURatio == nil {
			uncounted[of] = append(uncounted[of], r.Stage)
		}
	}
	for _, r := range list {
		if stage := r.Stage; r.PartOf == "" {
			s.use[stage] = utilisation{mfu: r.MFURatio, mbu: r.MBURatio, precision: r.Precision, convention: r.Convention, fault: caveat.Fault(r.Fault), isLeast: r.IsLeast, uncounted: uncounted[stage], aloneMFU: r.AloneMFURatio, aloneMBU: r.AloneMBURatio}
		}
	}
	s.noUsage = strings.Join(s.utilisationNotes(), "; ")
	if s.noUsage == "" {
		s.noUsage = "the model's operations were not counted"
	}
	return err
}

// utilisationNotes say why utilisation is not known, or what it rests on.
func (s *summariser) utilisationNotes() []string {
	f := s.r.Frame("mfu")
	if f == nil {
		return nil
	}
	return f.Said("mfu")
}
