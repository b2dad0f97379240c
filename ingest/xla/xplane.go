package xla

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"prof/ingest/load"
	"prof/ingest/torch/trace"
)

// space is an XSpace. Lines stay as they are in the file until their events are asked for.
type space struct {
	planes  []plane
	sum     string
	started int64 // ns from 1970; 0 not said
	said    []trace.Said
}

// plane is an XPlane: a device, or the host.
type plane struct {
	name   string
	lines  []field
	events map[uint64]string // names of events
	stats  map[uint64]string // names of stats, and texts that they refer to
	own    []field
}

// field is the bytes of a message with its place in the file.
type field struct {
	b  []byte
	at int
}

// Numbers of fields in xplane.proto.
const (
	spacePlanes   = 1
	spaceErrors   = 2
	spaceWarnings = 3

	planeName   = 2
	planeLines  = 3
	planeEvents = 4
	planeStats  = 5
	planeOwn    = 6

	entryKey   = 1
	entryValue = 2

	metadataName    = 2
	metadataDisplay = 4

	lineID        = 1
	lineName      = 2
	lineTimestamp = 3
	lineEvents    = 4

	eventMetadata = 1
	eventOffset   = 2
	eventDuration = 3
	eventStats    = 4

	statMetadata = 1
	statUint     = 3
	statInt      = 4
	statText     = 5
	statRef      = 7
)

// each calls f for the fields of a message.
func (m field) each(f func(num protowire.Number, v value) error) error {
	for i := 0; i < len(m.b); {
		num, kind, n := protowire.ConsumeTag(m.b[i:])
		if n < 0 {
			return m.fail(i, n)
		}
		i += n
		v := value{kind: kind}
		switch kind {
		case protowire.VarintType:
			v.n, n = protowire.ConsumeVarint(m.b[i:])
		case protowire.BytesType:
			v.b, n = protowire.ConsumeBytes(m.b[i:])
			v.at = m.at + i + n - len(v.b)
		default:
			n = protowire.ConsumeFieldValue(num, kind, m.b[i:])
		}
		if n < 0 {
			return m.fail(i, n)
		}
		i += n
		if err := f(num, v); err != nil {
			return err
		}
	}
	return nil
}

func (m field) fail(i, n int) error {
	return fmt.Errorf("at byte %d: %w: %w", m.at+i, ErrSyntax, protowire.ParseError(n))
}

// value is a field's: a number, or bytes.
type value struct {
	kind protowire.Type
	n    uint64
	field
}

// is reports whether a field has that number and form; another form is passed over, as protobuf does.
func (v value) is(num, want protowire.Number, kind protowire.Type) bool {
	return num == want && v.kind == kind
}

const (
	number = protowire.VarintType
	bytes  = protowire.BytesType
)

// readSpace reads the planes and their names.
func readSpace(data []byte) (*space, error) {
	s := &space{sum: sumOf(data)}
	err := field{data, 0}.each(func(num protowire.Number, v value) error {
		switch {
		case v.is(num, spaceErrors, bytes):
			s.said = append(s.said, trace.Said{Severity: "error", Text: string(v.b)})
		case v.is(num, spaceWarnings, bytes):
			s.said = append(s.said, trace.Said{Severity: "warning", Text: string(v.b)})
		case v.is(num, spacePlanes, bytes):
			p, err := readPlane(v.field)
			s.planes = append(s.planes, p)
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(s.planes) == 0 {
		return nil, fmt.Errorf("at byte 0: %w: it has no planes", ErrSyntax)
	}
	for i := range s.planes {
		if p := &s.planes[i]; p.name == "Task Environment" {
			for _, own := range p.own {
				st, err := p.stat(own)
				if err != nil {
					return nil, err
				}
				if st.name == "profile_start_time" && st.n > 0 && st.n < math.MaxInt64/2 {
					s.started = st.n
				}
			}
		}
	}
	return s, nil
}

func readPlane(m field) (plane, error) {
	p := plane{events: map[uint64]string{}, stats: map[uint64]string{}}
	err := m.each(func(num protowire.Number, v value) error {
		switch {
		case v.is(num, planeName, bytes):
			p.name = string(v.b)
		case v.is(num, planeLines, bytes):
			p.lines = append(p.lines, v.field)
		case v.is(num, planeEvents, bytes):
			return readEntry(v.field, p.events)
		case v.is(num, planeStats, bytes):
			return readEntry(v.field, p.stats)
		case v.is(num, planeOwn, bytes):
			p.own = append(p.own, v.field)
		}
		return nil
	})
	return p, err
}

// readEntry reads an entry of a map from ids to what has a name.
func readEntry(m field, into map[uint64]string) error {
	var id uint64
	var name, display string
	err := m.each(func(num protowire.Number, v value) error {
		switch {
		case v.is(num, entryKey, number):
			id = v.n
		case v.is(num, entryValue, bytes):
			return v.each(func(num protowire.Number, v value) error {
				switch {
				case v.is(num, metadataName, bytes):
					name = string(v.b)
				case v.is(num, metadataDisplay, bytes):
					display = string(v.b)
				}
				return nil
			})
		}
		return nil
	})
	if name == "" {
		name = display
	}
	into[id] = name
	return err
}

// stat is one XStat. n is its number where that is one.
type stat struct {
	name, text string
	n          int64
}

func (p *plane) stat(m field) (s stat, err error) {
	err = m.each(func(num protowire.Number, v value) error {
		switch {
		case v.is(num, statMetadata, number):
			s.name = p.stats[v.n]
		case v.is(num, statUint, number), v.is(num, statInt, number):
			s.n = int64(v.n)
		case v.is(num, statText, bytes):
			s.text = string(v.b)
		case v.is(num, statRef, number):
			s.text = p.stats[v.n]
		}
		return nil
	})
	return s, err
}

const gpuPlane = "/device:GPU:"

// number is the GPU that a plane is of.
func (p *plane) gpu() (int32, bool) {
	text, ok := strings.CutPrefix(p.name, gpuPlane)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 32)
	return int32(n), err == nil && n >= 0 && n < load.MaxDevices
}

// device describes the GPU of a plane with events.
func (p *plane) device() *trace.DeviceProperties {
	n, ok := p.gpu()
	if !ok || len(p.lines) == 0 {
		return nil
	}
	d, name := &trace.DeviceProperties{ID: &n}, ""
	for _, own := range p.own {
		s, err := p.stat(own)
		if err != nil {
			continue // Load meets it again
		}
		v := s.n
		switch s.name {
		case "gpu_device_name":
			name = s.text
		case "device_vendor":
			if s.text == "AMD" || s.text == "Intel" {
				d.Name = s.text + " device"
			}
		case "compute_cap_major":
			d.Major = &v
		case "compute_cap_minor":
			d.Minor = &v
		}
		if v <= 0 || v > maxTime/1000 {
			continue // it says nothing
		}
		switch s.name {
		case "clock_rate":
			d.ClockHz = new(v * 1000) // from kHz
		case "core_count":
			d.SMs = &v
		case "memory_bandwidth":
			d.MemoryBytesPerS = &v
		case "memory_size":
			d.MemoryBytes = &v
		}
	}
	d.Name = cmp.Or(name, d.Name)
	return d
}
