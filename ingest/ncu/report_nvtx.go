package ncu

import (
	"cmp"
	"slices"
)

// openRange is a range of the NVTX state with what orders it among those of other domains.
type openRange struct {
	NVTXRange
	domain uint64
	call   uint64 // number of the last API call that its thread had made when it opened it; numbers count over all threads
}

// ranges reads the NVTX state at a launch: the push/pop ranges of the launching thread, of all threads where the capture had
// them scoped by process, and the start/end ranges, which apply to the process. The state keeps domains apart; ranges are put
// into the order in which they were opened by the API calls between them. Where there was no call between two ranges of
// different domains, the lower domain number is taken for the outer one; a start/end range of another thread may be misplaced
// where this thread made no call since.
func (d *decoder) ranges(state []byte) error {
	var s nvtxState
	if err := s.decode(state); err != nil {
		return err
	}
	var open []openRange
	for _, t := range s.threads {
		if t.tid == d.result.TID || s.perProcess {
			open = append(open, t.open...)
		}
	}
	open = append(open, s.startEnd...)
	slices.SortStableFunc(open, func(a, b openRange) int {
		return cmp.Or(cmp.Compare(a.call, b.call), cmp.Compare(a.domain, b.domain))
	})
	for _, r := range open {
		name, known := s.domains[r.domain]
		if r.Domain = name; !known {
			r.Domain = "domain " + itoa(r.domain)
		}
		d.result.Ranges = append(d.result.Ranges, r.NVTXRange)
	}
	return nil
}

type nvtxState struct {
	domains    map[uint64]string
	threads    []nvtxThread
	startEnd   []openRange
	perProcess bool
	open       int // ranges of threads
}

type nvtxThread struct {
	tid  int32
	open []openRange
}

func (s *nvtxState) decode(msg []byte) error {
	s.domains = map[uint64]string{}
	return eachField(msg, func(f field) error {
		switch {
		case f.message(1):
			return s.domain(f.bytes)
		case f.message(2):
			var t nvtxThread
			if err := t.decode(f.bytes); err != nil {
				return err
			}
			s.threads = append(s.threads, t)
			if s.open += len(t.open); s.open > mostRanges {
				return fewer(s.open, mostRanges, "open ranges")
			}
			return fewer(len(s.threads), mostRanges, "threads with ranges")
		case f.message(3):
			open, err := rangesOfDomain(f.bytes, true)
			s.startEnd = append(s.startEnd, open...)
			return cmp.Or(err, fewer(len(s.startEnd), mostRanges, "open ranges"))
		case f.number(5):
			s.perProcess = f.int == 1
		}
		return nil
	})
}

func (s *nvtxState) domain(msg []byte) error {
	var id uint64
	var name string
	err := eachField(msg, func(f field) error {
		switch {
		case f.number(1):
			id = f.int
		case f.message(2):
			name = f.text()
		}
		return nil
	})
	if name == DefaultDomain {
		name = ""
	}
	s.domains[id] = name
	return cmp.Or(err, fewer(len(s.domains), mostRanges, "domains of NVTX"))
}

func (t *nvtxThread) decode(msg []byte) error {
	return eachField(msg, func(f field) error {
		switch {
		case f.number(1):
			t.tid = small(f.int, 0)
		case f.message(2):
			open, err := rangesOfDomain(f.bytes, false)
			t.open = append(t.open, open...)
			return cmp.Or(err, fewer(len(t.open), mostRanges, "open ranges"))
		}
		return nil
	})
}

// rangesOfDomain reads the open ranges of one domain, outermost first. The two styles number the fields of a range differently.
func rangesOfDomain(msg []byte, startEnd bool) ([]openRange, error) {
	var domain uint64
	var out []openRange
	err := eachField(msg, func(f field) error {
		switch {
		case f.number(1):
			domain = f.int
		case f.message(3):
			r := openRange{NVTXRange: NVTXRange{StartEnd: startEnd}}
			err := eachField(f.bytes, func(f field) error {
				switch {
				case !startEnd && f.message(1), startEnd && f.message(2):
					r.Name = f.text()
				case !startEnd && f.number(3), startEnd && f.number(4):
					r.call = f.int
				}
				return nil
			})
			out = append(out, r)
			return cmp.Or(err, fewer(len(out), mostRanges, "open ranges"))
		}
		return nil
	})
	for i := range out {
		out[i].domain = domain
	}
	return out, err
}
