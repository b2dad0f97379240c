package judge

import (
	"prof/queries/caveat"
	"prof/queries/frame"
)

// Loss is something that a run's captures did not record, in words.
type Loss struct {
	Stage string // "(none)" outside stages, "" when any may lack it
	IsCut bool   // by the beginning or the end of a capture: passes there are not whole, all others are
	Text  string
}

// Losses are those that a frame has caveats about, the gravest first.
func Losses(f *frame.Frame) []Loss {
	var out []Loss
	for _, c := range caveat.Losses(f.Caveats) {
		out = append(out, Loss{c.Stage, caveat.IsCut(c.Kind), c.Text})
	}
	return out
}

// lostShare is the part of the kernels' time that may be of no stage before it is worth a word.
const lostShare = 0.05

// lostWork is kernel time that launch attribution can give to no range, of the counted kind of capture.
type lostWork struct {
	count, kernels int64   // kernels whose launch was not captured, of all
	ns, outside    float64 // their time, and that of kernels launched outside every range
	all            float64
}

// readLost reads conservation. Of a run with several kinds of capture the timeline that counts is that of the first, in the order of their names.
func (s *summariser) readLost() error {
	list, err := read(s, ConservationRows)
	if len(list) > 0 {
		r := list[0]
		s.lost = lostWork{r.UnlaunchedCount, r.KernelCount, float64(r.UnlaunchedNs), float64(r.OutsideNs), float64(r.KernelSumNs)}
	}
	return err
}

// doubtLost is about kernels that are of no stage for want of knowing, and such as wait while they run.
func (s *summariser) doubtLost() error {
	if f := s.r.Frame("conservation"); f != nil {
		for _, c := range f.Caveats {
			if c.Kind == "early-starts" && c.TimeNs >= lostShare*c.OfTimeNs {
				s.doubt("%s", c.Text)
			}
		}
	}
	if l := s.lost; l.all > 0 {
		if l.ns >= lostShare*l.all {
			s.doubt("the launches of %d of %d kernels (%s of all kernel time) were not captured: their stage, and why the GPU idled before them, are unknown; %s", l.count, l.kernels, percentText(l.ns/l.all), s.command("conservation"))
		}
		if l.outside >= lostShare*l.all && len(s.out.Stages) > 0 {
			s.doubt("%s of all kernel time was launched outside every range and belongs to no stage; %s", percentText(l.outside/l.all), s.command("conservation"))
		}
	}
	return nil
}
